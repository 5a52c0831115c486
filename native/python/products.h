#include "../drivers/products.h"
