/** The engine that needs no row: the simulator inside the gateway. Apart from the schemas, which threads need not load. */
export const SIMULATOR = 'simulator';
