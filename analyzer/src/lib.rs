//! See the folder's README.
