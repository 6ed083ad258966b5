/* An atomic of three words, which a function of libatomic locks. */
#define WORDS 3
#include "exchange.h"
