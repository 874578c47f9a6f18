"""All rows, in the order of the tables."""

from bench.workloads import (
    arrays,
    attention,
    convolutions,
    from_python,
    gpt2,
    graphs,
    layers,
    matrices,
    molecules,
    networks,
    order,
    products,
    simulations,
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
        *convolutions.ROWS,
        *layers.ROWS,
        *transformers.ROWS,
        *attention.ROWS,
        *gpt2.ROWS,
        *order.ROWS,
        *graphs.ROWS,
        *transforms.ROWS,
        *molecules.ROWS,
        *solvers.ROWS,
        *matrices.ROWS,
        *simulations.ROWS,
        *from_python.ROWS,
    ]
}
