/** placeholder */
import type { ResultFile } from '../result-file.ts';
export const drawCharts = async (_: ResultFile): Promise<string[]> => [];
