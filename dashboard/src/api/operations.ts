import { queryOptions, useQuery } from '@tanstack/react-query';
import { isRecord } from './errors.ts';

/** What this gateway can do, by its own document: never by its version. */
const operationsQuery = queryOptions({
  queryKey: ['operations'],
  queryFn: readOperations,
  staleTime: Infinity,
});

interface Operations {
  /** `GET /keys` */
  readonly names: ReadonlySet<string>;
  /** Those that members may call. */
  readonly memberNames: ReadonlySet<string>;
}

async function readOperations(): Promise<Operations> {
  const response = await fetch('/openapi.json');
  const document = (await response.json()) as unknown;
  const paths = isRecord(document) && isRecord(document['paths']) ? document['paths'] : {};
  const [names, memberNames] = [new Set<string>(), new Set<string>()];
  for (const [path, methods] of Object.entries(paths))
    for (const [method, operation] of Object.entries(isRecord(methods) ? methods : {})) {
      const name = `${method.toUpperCase()} ${path}`;
      names.add(name);
      if (isRecord(operation) && operation['x-console-role'] === 'member') memberNames.add(name);
    }
  return { names, memberNames };
}

/** Whether the gateway has an operation, such as `GET /generations`; `undefined`: not known yet. */
export function useOperation(name: string): boolean | undefined {
  const { data } = useQuery(operationsQuery);
  return data?.names.has(name);
}
