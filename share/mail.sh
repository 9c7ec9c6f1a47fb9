# Mail what comes in, its first line as the subject, and nothing when nothing comes: … | sh mail.sh ADDRESS
IFS= read -r subject || exit 0
{ printf '%s\n' "$subject"; cat; } | mail -s "$subject" -- "$1"
