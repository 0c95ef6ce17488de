/** Distinguishable series of a chart: the colours of `tokens.css`. */
export const seriesColours = 6;
