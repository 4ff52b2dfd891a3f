/* MM: the product of two dense n x n matrices on a square grid of ranks.
 *
 * SUMMA: R. A. van de Geijn and J. Watts, "SUMMA: Scalable universal matrix multiplication
 * algorithm", Concurrency: Practice and Experience 9(4), 1997. See docs/applications/mm.md. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../common/application.h"
#include "../hamtune_app.h"

enum { DEFAULT_ORDER = 1000, MOST_ORDER = 100000, PANEL = 64 };

/* The rank's block of every matrix, by rows, and its row and column of the grid of ranks. */
typedef struct {
  int order;
  int side; /* of the grid of ranks */
  int place[2];
  AppRange rows;
  AppRange columns;
  MPI_Comm row_comm;
  MPI_Comm column_comm;
  double *a, *b, *c;
  double *a_panel; /* rows x PANEL */
  double *b_panel; /* PANEL x columns */
} Product;

static Product make_product(int order, int side, int rank)
{
  Product p = {.order = order, .side = side, .place = {rank / side, rank % side}};
  p.rows = app_cut(order, side, p.place[0]);
  p.columns = app_cut(order, side, p.place[1]);
  MPI_Comm_split(MPI_COMM_WORLD, p.place[0], p.place[1], &p.row_comm);
  MPI_Comm_split(MPI_COMM_WORLD, p.place[1], p.place[0], &p.column_comm);
  size_t rows = (size_t)p.rows.count, columns = (size_t)p.columns.count;
  p.a = app_allocate(rows * columns, sizeof(double));
  p.b = app_allocate(rows * columns, sizeof(double));
  p.c = app_allocate(rows * columns, sizeof(double));
  p.a_panel = app_allocate(rows * PANEL, sizeof(double));
  p.b_panel = app_allocate(columns * PANEL, sizeof(double));
  return p;
}

static void free_product(Product *p)
{
  MPI_Comm_free(&p->row_comm);
  MPI_Comm_free(&p->column_comm);
  free(p->a);
  free(p->b);
  free(p->c);
  free(p->a_panel);
  free(p->b_panel);
}

/* A(i, k) = i + k and B(k, j) = k - j: every entry of the product is an integer that doubles hold
 * exactly, in whatever order it is summed, and has a closed form. */
static void fill_operands(const Product *p)
{
  size_t at = 0;
  for (int i = 0; i < p->rows.count; i++) {
    for (int j = 0; j < p->columns.count; j++, at++) {
      p->a[at] = (double)(p->rows.first + i) + (p->columns.first + j);
      p->b[at] = (double)(p->rows.first + i) - (p->columns.first + j);
      p->c[at] = 0.0;
    }
  }
}

/* sum over k of (i + k)(k - j) */
static double expected_entry(double order, double i, double j)
{
  double sum = order * (order - 1.0) / 2.0;
  double sum_of_squares = (order - 1.0) * order * (2.0 * order - 1.0) / 6.0;
  return sum_of_squares + (i - j) * sum - order * i * j;
}

static double count_wrong_entries(const Product *p)
{
  double wrong = 0.0;
  size_t at = 0;
  for (int i = 0; i < p->rows.count; i++)
    for (int j = 0; j < p->columns.count; j++, at++)
      wrong += p->c[at] != expected_entry(p->order, p->rows.first + i, p->columns.first + j);
  return wrong;
}

/* ---- SUMMA ---- */

/* Columns [first, first + width) of the rank's block of A. */
static void copy_a_panel(const Product *p, int first, int width)
{
  for (int i = 0; i < p->rows.count; i++)
    memcpy(p->a_panel + (size_t)i * (size_t)width,
           p->a + (size_t)i * (size_t)p->columns.count + first, (size_t)width * sizeof(double));
}

/* Rows [first, first + width) of the rank's block of B. */
static void copy_b_panel(const Product *p, int first, int width)
{
  size_t columns = (size_t)p->columns.count;
  memcpy(p->b_panel, p->b + (size_t)first * columns, (size_t)width * columns * sizeof(double));
}

/* c = c + a_panel b_panel */
static void multiply_panels(const Product *p, int width)
{
  size_t columns = (size_t)p->columns.count;
  for (int i = 0; i < p->rows.count; i++) {
    double *c = p->c + (size_t)i * columns;
    for (int k = 0; k < width; k++) {
      double a = p->a_panel[(size_t)i * (size_t)width + (size_t)k];
      const double *b = p->b_panel + (size_t)k * columns;
      for (size_t j = 0; j < columns; j++)
        c[j] += a * b[j];
    }
  }
}

/* The owners of a panel send it along their row (A) and their column (B) of the grid. */
static void multiply_step(const Product *p, int owner, int first, int width)
{
  HAMTUNE_BLOCK(0.0, {
    if (p->place[1] == owner)
      copy_a_panel(p, first, width);
    if (p->place[0] == owner)
      copy_b_panel(p, first, width);
  });
  MPI_Bcast(p->a_panel, p->rows.count * width, MPI_DOUBLE, owner, p->row_comm);
  MPI_Bcast(p->b_panel, p->columns.count * width, MPI_DOUBLE, owner, p->column_comm);
  HAMTUNE_BLOCK(2.0 * p->rows.count * p->columns.count * width, multiply_panels(p, width));
}

/* Panels do not cross the borders of blocks, so each has one owner in a row or column. */
static void multiply(const Product *p)
{
  for (int owner = 0; owner < p->side; owner++) {
    int count = app_cut(p->order, p->side, owner).count;
    for (int first = 0; first < count; first += PANEL) {
      HAMTUNE_ITERATION();
      multiply_step(p, owner, first, count - first < PANEL ? count - first : PANEL);
    }
  }
}

static int run(int order, int side, int rank)
{
  Product p = make_product(order, side, rank);
  double entries = (double)p.rows.count * p.columns.count;
  HAMTUNE_BLOCK(2.0 * entries, fill_operands(&p));

  MPI_Barrier(MPI_COMM_WORLD);
  double start = MPI_Wtime();
  multiply(&p);
  double elapsed = MPI_Wtime() - start;
  double slowest = 0.0;
  MPI_Reduce(&elapsed, &slowest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  double wrong = 0.0, all_wrong = 0.0;
  HAMTUNE_BLOCK(7.0 * entries, wrong = count_wrong_entries(&p));
  MPI_Reduce(&wrong, &all_wrong, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);

  free_product(&p);
  if (rank != 0)
    return APP_OK;
  char size[32];
  snprintf(size, sizeof size, "%d x %d", order, order);
  AppResult result = {"mm",    size, side * side, slowest, 2.0 * order * (double)order * order,
                      all_wrong == 0.0};
  return app_report(&result);
}

/* The order given on the command line, or -1. */
static int read_order(int argc, char **argv)
{
  if (argc == 1)
    return DEFAULT_ORDER;
  char *end;
  long order = strtol(argv[1], &end, 10);
  if (argc > 2 || end == argv[1] || *end != '\0' || order < 1 || order > MOST_ORDER)
    return -1;
  return (int)order;
}

static int side_of_square(int ranks)
{
  int side = 1;
  while (side * side < ranks)
    side++;
  return side * side == ranks ? side : -1;
}

int main(int argc, char **argv)
{
  MPI_Init(&argc, &argv);
  int rank, ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  int order = read_order(argc, argv);
  if (order < 0)
    return app_wrong_use("mm", "needs an order from 1 to %d (usage: mm [N], default %d)",
                         MOST_ORDER, DEFAULT_ORDER);
  int side = side_of_square(ranks);
  if (side < 0 || side > order)
    return app_wrong_use("mm", "needs a square number of ranks up to %d x %d, not %d", order, order,
                         ranks);
  int status = run(order, side, rank);
  MPI_Finalize();
  return status;
}
