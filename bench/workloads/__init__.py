"""All rows, in the order of the tables."""

from bench.workloads import (
    arrays,
    molecules,
    networks,
    order,
    products,
    solvers,
    transformers,
    transforms,
)

ROWS = {
    row.name: row
    for row in [
        *products.ROWS,
        *networks.ROWS[:3],
        *arrays.ROWS,
        *networks.ROWS[3:],
        *transformers.ROWS,
        *order.ROWS,
        *transforms.ROWS,
        *molecules.ROWS,
        *solvers.ROWS,
    ]
}
