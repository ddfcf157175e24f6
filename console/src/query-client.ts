import { QueryClient } from '@tanstack/react-query';
import { isTransient } from './api/errors';

const ATTEMPTS = 2;

/** A refusal is final; what may pass is tried again, and then offered to the person. */
export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      retry: (count, error) => isTransient(error) && count < ATTEMPTS,
      staleTime: 10_000,
      refetchOnWindowFocus: false,
    },
  },
});
