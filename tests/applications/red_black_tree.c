/* A left-leaning red-black tree (Sedgewick, 2008) behind one lock: threads put in keys (inputs),
 * and in the end the tree is what it has to be. There is no bug.
 *
 * -DBUG: nobody locks. */
#include "../../examples/include/raddle.h"
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

enum { THREADS = 2 };

struct node {
    struct node *left, *right;
    int key, red;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct node *root;

static int is_red(const struct node *node)
{
    return node && node->red;
}

static struct node *rotate_left(struct node *node)
{
    struct node *up = node->right;
    node->right = up->left;
    up->left = node;
    up->red = node->red;
    node->red = 1;
    return up;
}

static struct node *rotate_right(struct node *node)
{
    struct node *up = node->left;
    node->left = up->right;
    up->right = node;
    up->red = node->red;
    node->red = 1;
    return up;
}

static struct node *insert(struct node *node, int key)
{
    if (!node) {
        node = calloc(1, sizeof *node);
        node->key = key;
        node->red = 1;
        return node;
    }
    if (key < node->key)
        node->left = insert(node->left, key);
    else if (key > node->key)
        node->right = insert(node->right, key);
    if (is_red(node->right) && !is_red(node->left))
        node = rotate_left(node);
    if (is_red(node->left) && is_red(node->left->left))
        node = rotate_right(node);
    if (is_red(node->left) && is_red(node->right)) {
        node->left->red = node->right->red = 0;
        node->red = 1;
    }
    return node;
}

static void put(int key)
{
    root = insert(root, key);
    root->red = 0;
}

static void *thread(void *key)
{
#ifndef BUG
    pthread_mutex_lock(&lock);
#endif
    put(*(int *)key);
#ifndef BUG
    pthread_mutex_unlock(&lock);
#endif
    return 0;
}

/* How many black nodes lie on each way down, all keys between two bounds. */
static int check(const struct node *node, long above, long below, int *count)
{
    if (!node)
        return 0;
    ++*count;
    assert(above < node->key && node->key < below);
    assert(!is_red(node->right) && !(node->red && is_red(node->left)));
    int left = check(node->left, above, node->key, count);
    int right = check(node->right, node->key, below, count);
    assert(left == right);
    return left + !node->red;
}

int main(void)
{
    pthread_t threads[THREADS];
    int keys[THREADS], count = 0;
    raddle_symbolic(keys, sizeof keys, "keys");
    (void)lock;
    put(0);
    for (int i = 0; i < THREADS; i++) {
        raddle_assume(keys[i] != 0 && (i == 0 || keys[i] != keys[0]));
        pthread_create(&threads[i], 0, thread, &keys[i]);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], 0);
    check(root, -(1l << 40), 1l << 40, &count);
    assert(count == THREADS + 1);
    return 0;
}
