//! pthread_once.
