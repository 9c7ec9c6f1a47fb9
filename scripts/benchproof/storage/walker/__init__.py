"""Reads ahead what h5py will want of an AnnData file: in few rounds of many ranges, and trusted for nothing.

- scheduler.py: runs many walks at once; what they wait for is read in one round.
- parse.py: HDF5's structures, from bytes to values.
- objects.py: headers, attributes and links, each as a walk.
- anndata.py: which objects of an AnnData file `describe` looks at.

HDF5's own library decides what a file holds, over the same blocks. Whatever is not understood here, new
or hostile, ends a walk and costs requests later, never a wrong value.
"""

from benchproof.storage.walker.anndata import prefetch
from benchproof.storage.walker.parse import CutShort, Superblock, Unparsable, superblock

__all__ = ["CutShort", "Superblock", "Unparsable", "prefetch", "superblock"]
