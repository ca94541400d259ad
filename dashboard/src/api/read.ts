import {
  keepPreviousData,
  QueryClient,
  useInfiniteQuery,
  useMutation,
  useQuery,
  useQueryClient,
  type UseInfiniteQueryResult,
  type UseMutationResult,
  type UseQueryResult,
} from '@tanstack/react-query';
import { asApiError, type ApiError } from './errors.ts';
import { readAll, type List, type ListPage, type Window } from './read-all.ts';

/** What a call of the typed client resolves to. */
type Reply<Data> = Promise<{ readonly data?: Data | undefined }>;

export interface ReadOptions {
  readonly enabled?: boolean;
  /** Read again so often while the page is visible. */
  readonly everyMs?: number;
  /** What is not there yet may be in a moment: 404 is tried again for some seconds. */
  readonly isLate?: boolean;
  /** Never by itself: neither on focus nor after a change elsewhere. */
  readonly isOnDemand?: boolean;
}

/** Most lists of the API have at most so many elements a page. */
const PAGE_SIZE = 100;
const RETRIES_MAX = 2;
const LATE_TRIES_MAX = 5;
const LATE_MS = 1_000;

export function createQueryClient(): QueryClient {
  return new QueryClient({
    defaultOptions: {
      queries: {
        // A refusal stays one; what did not respond, or could not right now, is tried again.
        retry: (count, error) => {
          const { status } = asApiError(error);
          return count < RETRIES_MAX && (status === 0 || status === 503);
        },
        staleTime: 5_000,
      },
    },
  });
}

/** One read of the page. What is known stays on screen while it is read again. */
export function useRead<Data>(
  key: readonly unknown[],
  call: (signal: AbortSignal) => Reply<Data>,
  { enabled = true, everyMs, isLate = false, isOnDemand = false }: ReadOptions = {},
): UseQueryResult<NonNullable<Data>, ApiError> {
  return useQuery<NonNullable<Data>, ApiError>({
    queryKey: key,
    queryFn: async ({ signal }) => {
      const { data } = await call(signal);
      if (data === undefined || data === null) throw asApiError('an empty response');
      return data;
    },
    enabled,
    placeholderData: keepPreviousData,
    ...(isLate && {
      retry: (count: number, error: ApiError) => error.status === 404 && count < LATE_TRIES_MAX,
      retryDelay: LATE_MS,
    }),
    ...(everyMs !== undefined && { refetchInterval: everyMs }),
    ...(isOnDemand && { staleTime: Infinity, refetchOnWindowFocus: false, refetchOnReconnect: false }),
  });
}

/** A list, read to its end. */
export function useList<Item>(
  key: readonly unknown[],
  readPage: (window: Window, signal: AbortSignal) => Reply<ListPage<Item>>,
  options?: ReadOptions & { readonly pageSize?: number },
): UseQueryResult<List<Item>, ApiError> {
  return useRead(
    key,
    async (signal) => ({
      data: await readAll(options?.pageSize ?? PAGE_SIZE, async (window) => (await readPage(window, signal)).data),
    }),
    options,
  );
}

/** A list that may be very long: its first page, and further ones where they are wanted. */
export function usePages<Item extends { readonly id: string }>(
  key: readonly unknown[],
  readPage: (window: Window, signal: AbortSignal) => Reply<ListPage<Item>>,
): UseInfiniteQueryResult<List<Item>, ApiError> {
  return useInfiniteQuery({
    queryKey: key,
    initialPageParam: 0,
    queryFn: async ({ pageParam: offset, signal }) => {
      const { data } = await readPage({ offset, limit: PAGE_SIZE }, signal);
      return { next: offset + (data?.data.length ?? 0), items: data?.data ?? [], total: data?.total_count ?? 0 };
    },
    getNextPageParam: ({ next, items, total }) => (items.length > 0 && next < total ? next : undefined),
    // An element that was added meanwhile moves the last one of a page to the next page.
    select: ({ pages }) => ({
      items: [...new Map(pages.flatMap(({ items }) => items).map((item) => [item.id, item])).values()],
      total: pages.at(-1)?.total ?? 0,
    }),
    placeholderData: keepPreviousData,
  });
}

/** One change. Afterwards everything on the page is read again. */
export function useChange<Input, Data>(
  call: (input: Input) => Reply<Data>,
  onDone?: (data: Data | undefined, input: Input) => void,
): UseMutationResult<Data | undefined, ApiError, Input> {
  const queries = useQueryClient();
  return useMutation<Data | undefined, ApiError, Input>({
    mutationFn: async (input) => (await call(input)).data,
    onSuccess: (data, input) => {
      onDone?.(data, input);
      void queries.invalidateQueries();
    },
  });
}

/** One call that changes nothing on the page, such as a test. */
export function useCall<Input, Data>(
  call: (input: Input) => Reply<Data>,
): UseMutationResult<Data | undefined, ApiError, Input> {
  return useMutation<Data | undefined, ApiError, Input>({ mutationFn: async (input) => (await call(input)).data });
}
