/* Sorting, searching, matrices and structures. */
#include "plain.h"

static void swap(byte *a, byte *b)
{
    byte t = *a;
    *a = *b;
    *b = t;
}

static void show(void)
{
    for (int i = 0; i < LEN; i++) {
        say("%d ", data[i]);
        note(data[i]);
    }
    say("\n");
}

static void bubble(void)
{
    for (int i = 0; i < LEN; i++)
        for (int j = 0; j + 1 < LEN - i; j++)
            if (data[j] > data[j + 1])
                swap(data + j, data + j + 1);
    show();
}

static void insertion(void)
{
    for (int i = 1; i < LEN; i++) {
        byte x = data[i];
        int j = i;
        for (; j > 0 && data[j - 1] > x; j--)
            data[j] = data[j - 1];
        data[j] = x;
    }
    show();
}

static void quick_part(int lo, int hi)
{
    if (lo >= hi)
        return;
    int i = lo;
    for (int j = lo; j < hi; j++)
        if (data[j] < data[hi])
            swap(data + i++, data + j);
    swap(data + i, data + hi);
    quick_part(lo, i - 1);
    quick_part(i + 1, hi);
}

static void quick(void)
{
    quick_part(0, LEN - 1);
    show();
}

static void merge_part(byte *a, int n, byte *room)
{
    if (n < 2)
        return;
    int half = n / 2, i = 0, j = half;
    merge_part(a, half, room);
    merge_part(a + half, n - half, room);
    for (int k = 0; k < n; k++)
        room[k] = j >= n || (i < half && a[i] <= a[j]) ? a[i++] : a[j++];
    memcpy(a, room, (size_t)n);
}

static void merge(void)
{
    byte *room = malloc(LEN);
    merge_part(data, LEN, room);
    free(room);
    show();
}

static void sift(int at, int n)
{
    for (int child; (child = 2 * at + 1) < n; at = child) {
        if (child + 1 < n && data[child] < data[child + 1])
            child++;
        if (data[at] >= data[child])
            return;
        swap(data + at, data + child);
    }
}

static void heap(void)
{
    for (int i = LEN / 2; i-- > 0;)
        sift(i, LEN);
    for (int n = LEN; n-- > 1;) {
        swap(data, data + n);
        sift(0, n);
    }
    show();
}

static void shell(void)
{
    for (int gap = 13; gap; gap /= 3)
        for (int i = gap; i < LEN; i++)
            for (int j = i; j >= gap && data[j - gap] > data[j]; j -= gap)
                swap(data + j, data + j - gap);
    show();
}

static void counting(void)
{
    int count[256] = {0}, at = 0;
    for (int i = 0; i < LEN; i++)
        count[data[i]]++;
    for (int value = 0; value < 256; value++)
        while (count[value]-- > 0)
            data[at++] = (byte)value;
    show();
}

static int by_value(const void *a, const void *b)
{
    return *(const byte *)a - *(const byte *)b;
}

static void library_sort(void)
{
    qsort(data, LEN, 1, by_value);
    byte key = 'q';
    byte *found = bsearch(&key, data, LEN, 1, by_value);
    note(found ? (uint64_t)(found - data) : 99);
    show();
}

static void radix(void)
{
    for (int bit = 0; bit < 8; bit++) {
        byte next[LEN];
        int at = 0;
        for (int side = 0; side < 2; side++)
            for (int i = 0; i < LEN; i++)
                if ((data[i] >> bit & 1) == side)
                    next[at++] = data[i];
        memcpy(data, next, LEN);
    }
    show();
}

static void median(void)
{
    byte copy[LEN];
    memcpy(copy, data, LEN);
    int lo = 0, hi = LEN - 1, k = LEN / 2;
    while (lo < hi) {
        byte pivot = copy[k];
        int i = lo, j = hi;
        while (i <= j) {
            while (copy[i] < pivot)
                i++;
            while (copy[j] > pivot)
                j--;
            if (i <= j)
                swap(copy + i++, copy + j--);
        }
        if (j < k)
            lo = i;
        if (k < i)
            hi = j;
    }
    say("%d\n", copy[k]);
    note(copy[k]);
}

struct tree {
    struct tree *left, *right;
    byte key;
    short count;
};

static struct tree *grow(struct tree *t, byte key)
{
    if (!t) {
        t = calloc(1, sizeof *t);
        t->key = key;
    }
    if (key < t->key)
        t->left = grow(t->left, key);
    else if (key > t->key)
        t->right = grow(t->right, key);
    else
        t->count++;
    return t;
}

static void walk(struct tree *t, int depth)
{
    if (!t)
        return;
    walk(t->left, depth + 1);
    say("%d:%d@%d ", t->key, t->count, depth);
    note(t->key);
    walk(t->right, depth + 1);
    free(t);
}

static void tree(void)
{
    struct tree *root = NULL;
    for (int i = 0; i < LEN; i++)
        root = grow(root, data[i]);
    walk(root, 0);
}

struct item {
    struct item *next;
    byte value;
};

static void list(void)
{
    struct item *head = NULL, *reversed = NULL;
    for (int i = 0; i < LEN; i++) {
        struct item **at = &head, *one = malloc(sizeof *one);
        while (*at && (*at)->value > data[i])
            at = &(*at)->next;
        *one = (struct item){*at, data[i]};
        *at = one;
    }
    while (head) {
        struct item *next = head->next;
        head->next = reversed;
        reversed = head;
        head = next;
    }
    for (struct item *next; reversed; reversed = next) {
        next = reversed->next;
        say("%d ", reversed->value);
        note(reversed->value);
        free(reversed);
    }
}

static void table(void)
{
    struct {
        byte key, used;
        uint16_t count;
    } slots[64];
    memset(slots, 0, sizeof slots);
    for (int i = 0; i < LEN; i++) {
        unsigned at = data[i] * 2654435761u >> 26;
        while (slots[at].used && slots[at].key != data[i])
            at = (at + 1) % 64;
        slots[at].key = data[i];
        slots[at].used = 1;
        slots[at].count++;
    }
    for (int i = 0; i < 64; i++)
        if (slots[i].used)
            say("%d:%d=%d ", i, slots[i].key, slots[i].count), note(slots[i].count);
}

static void matrix(void)
{
    int a[4][4], b[4][4], c[4][4] = {{0}};
    for (int i = 0; i < 16; i++)
        a[i / 4][i % 4] = data[i] - 64, b[i % 4][i / 4] = data[16 + i] - 50;
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++)
            for (int k = 0; k < 4; k++)
                c[i][j] += a[i][k] * b[k][j];
    for (int i = 0; i < 16; i++)
        say("%d ", c[i / 4][i % 4]), note((uint64_t)c[i / 4][i % 4]);
}

static void paths(void)
{
    int d[5][5];
    for (int i = 0; i < 25; i++)
        d[i / 5][i % 5] = i % 6 ? data[i] % 19 + 1 : 0;
    for (int k = 0; k < 5; k++)
        for (int i = 0; i < 5; i++)
            for (int j = 0; j < 5; j++)
                if (d[i][k] + d[k][j] < d[i][j])
                    d[i][j] = d[i][k] + d[k][j];
    for (int i = 0; i < 25; i++)
        say("%d ", d[i / 5][i % 5]), note((uint64_t)d[i / 5][i % 5]);
}

static void sets(void)
{
    byte parent[LEN];
    for (int i = 0; i < LEN; i++)
        parent[i] = (byte)i;
    for (int i = 0; i < LEN; i++) {
        int a = i, b = data[i] % LEN;
        while (parent[a] != a)
            a = parent[a] = parent[parent[a]];
        while (parent[b] != b)
            b = parent[b];
        parent[a] = (byte)b;
    }
    for (int i = 0; i < LEN; i++)
        say("%d ", parent[i]), note(parent[i]);
}

int main(int argc, char **argv)
{
    static const struct program all[] = {
        {"bubble", bubble},     {"insertion", insertion},       {"quick", quick},
        {"merge", merge},       {"heap", heap},                 {"shell", shell},
        {"counting", counting}, {"library_sort", library_sort}, {"radix", radix},
        {"median", median},     {"tree", tree},                 {"list", list},
        {"table", table},       {"matrix", matrix},             {"paths", paths},
        {"sets", sets},
    };
    return run_one(argc, argv, all, sizeof all / sizeof *all);
}
