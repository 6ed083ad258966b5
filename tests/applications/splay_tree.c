/* A splay tree (Sleator and Tarjan, 1985; top-down) behind one lock: threads look for keys (inputs),
 * which moves nodes, and no node is lost. There is no bug.
 *
 * -DBUG: nobody locks. */
#include "../../examples/include/raddle.h"
#include <assert.h>
#include <pthread.h>
#include <stddef.h>

enum { THREADS = 2, NODES = 3 };

struct node {
    struct node *left, *right;
    int key;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct node nodes[NODES];
static struct node *root;

static void splay(int key)
{
    struct node sides = {0}, *less = &sides, *more = &sides, *top = root;
    while (key != top->key) {
        struct node **way = key < top->key ? &top->left : &top->right;
        struct node *down = *way;
        if (!down)
            break;
        if (key < top->key) {
            if (key < down->key && down->left) {
                top->left = down->right;
                down->right = top;
                top = down;
            }
            more = more->left = top;
            top = top->left;
        } else {
            if (key > down->key && down->right) {
                top->right = down->left;
                down->left = top;
                top = down;
            }
            less = less->right = top;
            top = top->right;
        }
    }
    less->right = top->left;
    more->left = top->right;
    top->left = sides.right;
    top->right = sides.left;
    root = top;
}

static void *thread(void *unused)
{
    int key;
    raddle_symbolic(&key, sizeof key, "key");
#ifndef BUG
    pthread_mutex_lock(&lock);
#endif
    splay(key);
#ifndef BUG
    pthread_mutex_unlock(&lock);
#endif
    return unused;
}

static int count(const struct node *node, int above, int below)
{
    if (!node)
        return 0;
    assert(above < node->key && node->key < below);
    return 1 + count(node->left, above, node->key) + count(node->right, node->key, below);
}

int main(void)
{
    pthread_t threads[THREADS];
    (void)lock;
    for (int i = 0; i < NODES; i++) {
        nodes[i].key = 10 * (i + 1);
        nodes[i].left = root;
        root = &nodes[i];
    }
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], 0, thread, 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], 0);
    assert(count(root, 0, 100) == NODES);
    return 0;
}
