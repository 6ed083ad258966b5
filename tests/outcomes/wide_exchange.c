/* An atomic of two words. */
#define WORDS 2
#include "exchange.h"
