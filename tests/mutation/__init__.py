"""Mutation testing of the graders: which small edits of their code no test notices."""
