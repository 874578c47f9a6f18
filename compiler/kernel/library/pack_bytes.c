/* Packs a file that the compiler embeds: its size in eight bytes, the lowest
 * first, then one zstd frame.
 *   alula-pack-bytes IN OUT */
#include <stdio.h>
#include <stdlib.h>
#include <zstd.h>

static int fail(const char *what, const char *path) {
  fprintf(stderr, "alula-pack-bytes: can't %s %s\n", what, path);
  return 1;
}

int main(int argc, char **argv) {
  if (argc != 3) {
    fprintf(stderr, "usage: alula-pack-bytes IN OUT\n");
    return 2;
  }
  FILE *in = fopen(argv[1], "rb");
  if (!in || fseek(in, 0, SEEK_END) != 0)
    return fail("read", argv[1]);
  long end = ftell(in);
  rewind(in);
  size_t size = end < 0 ? 0 : (size_t)end, room = ZSTD_compressBound(size);
  unsigned char *bytes = malloc(size + 1), *packed = malloc(room);
  if (end < 0 || !bytes || !packed || fread(bytes, 1, size, in) != size)
    return fail("read", argv[1]);
  fclose(in);
  size_t count = ZSTD_compress(packed, room, bytes, size, ZSTD_maxCLevel());
  if (ZSTD_isError(count))
    return fail("pack", argv[1]);
  unsigned char head[8];
  for (int i = 0; i < 8; ++i)
    head[i] = (unsigned char)((unsigned long long)size >> (8 * i));
  FILE *out = fopen(argv[2], "wb");
  if (!out || fwrite(head, 1, sizeof head, out) != sizeof head ||
      fwrite(packed, 1, count, out) != count || fclose(out) != 0)
    return fail("write", argv[2]);
  free(bytes);
  free(packed);
  return 0;
}
