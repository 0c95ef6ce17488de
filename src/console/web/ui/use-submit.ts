/** Runs a change, and says whether it runs, what failed and which field is at fault. */
import { useState } from 'preact/hooks';
import { ApiError } from '../api/http.ts';
import { FieldError } from './field-error.ts';

export interface Submission {
  readonly busy: boolean;
  readonly failure: unknown;
  /** What is wrong with a field, by its path in the API. */
  readonly problem: (field: string) => string | undefined;
  /** Resolves to whether it succeeded. */
  readonly run: (work: () => Promise<void>) => Promise<boolean>;
  readonly clear: () => void;
}

export const useSubmit = (): Submission => {
  const [busy, setBusy] = useState(false);
  const [failure, setFailure] = useState<unknown>();
  const run = async (work: () => Promise<void>): Promise<boolean> => {
    setBusy(true);
    setFailure(undefined);
    try {
      await work();
      return true;
    } catch (error) {
      setFailure(error);
      return false;
    } finally {
      setBusy(false);
    }
  };
  const problem = (field: string): string | undefined => {
    const param = paramOf(failure);
    const isIts = param === field || param?.startsWith(`${field}.`) || param?.startsWith(`${field}[`);
    return isIts && failure instanceof Error ? failure.message : undefined;
  };
  return { busy, failure, problem, run, clear: () => setFailure(undefined) };
};

/** The field that a failure is about. */
export const paramOf = (failure: unknown): string | undefined =>
  failure instanceof ApiError || failure instanceof FieldError ? failure.param : undefined;
