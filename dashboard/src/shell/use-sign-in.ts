import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { asApiError, type ApiError } from '../api/errors.ts';

/** Something that opens a session, or leaves to open one. */
export interface Attempt {
  /** Returns whether it succeeded. */
  readonly run: (task: () => Promise<void>) => Promise<boolean>;
  readonly error: ApiError | undefined;
  readonly isBusy: boolean;
}

/** Afterwards everything is read anew, first of all the session. */
export function useAttempt(): Attempt {
  const queries = useQueryClient();
  const [error, setError] = useState<ApiError>();
  const [isBusy, setIsBusy] = useState(false);
  const run = async (task: () => Promise<void>): Promise<boolean> => {
    setIsBusy(true);
    setError(undefined);
    try {
      await task();
      await queries.invalidateQueries();
      return true;
    } catch (failure) {
      setError(asApiError(failure));
      return false;
    } finally {
      setIsBusy(false);
    }
  };
  return { run, error, isBusy };
}
