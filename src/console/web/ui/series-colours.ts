/** Series of a chart that can be told apart: the colours of `tokens.css`. */
export const seriesColours = 6;
