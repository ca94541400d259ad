import { z } from 'zod';
import type { Principal } from '../../../accounts/principal.ts';
import { GatewayError } from '../../../canonical/gateway-error.ts';
import type { ContainerFile } from '../../../containers/container-files.ts';
import type { ContainerRecord, ContainerRoutes, IdPage } from '../../../containers/container-routes.ts';
import { ownerOf, ownerShape } from '../owner.ts';
import type { RouteContext } from '../route.ts';

const BYTES_PER_MB = 1_048_576;
const MS_PER_S = 1_000;
const PAGE_ROWS_MAX = 1_000;
export const PAGE_ROWS = 100;

export const containerIdSchema = z
  .string()
  .regex(/^[\w-]{1,20}$/, { error: 'must be 1 to 20 of the characters A-Z a-z 0-9 _ -' });
export const containerPath = z.strictObject({ container_id: z.string().min(1) });
export const filePath = z.strictObject({ container_id: z.string().min(1), file_id: z.string().min(1) });
export const ownerQuery = z.strictObject(ownerShape);
export const pageQuery = z.strictObject({
  ...ownerShape,
  limit: z.coerce.number().int().min(1).max(PAGE_ROWS_MAX).optional().describe('Default 100.'),
  after: z.string().optional().describe('The `last_id` of the page before.'),
});

export const containerSchema = z
  .strictObject({
    id: z.string(),
    object: z.literal('container'),
    status: z.enum(['warm', 'asleep']).describe('`warm`: a command runs. `asleep`: its files are all that there is.'),
    image: z.null(),
    network: z.literal('none'),
    allowed_hosts: z.array(z.string()),
    memory_mb: z.int(),
    created_at: z.int().describe('Unix seconds.'),
    last_active_at: z.int().describe('Unix seconds.'),
    expires_at: z.int().describe('Unix seconds: when it is removed unless a command runs before.'),
  })
  .meta({ id: 'Container' });

export const containerFileSchema = z
  .strictObject({
    id: z.string(),
    object: z.literal('container.file'),
    container_id: z.string(),
    path: z
      .string()
      .describe(
        'Relative to the home; what was uploaded is below `/mnt/uploads/`, files of the workspace below `/mnt/files/`.',
      ),
    bytes: z.int(),
    created_at: z.int().describe('Unix seconds: the last change.'),
    source: z.enum(['assistant', 'user']).describe('`user`: it was uploaded.'),
  })
  .meta({ id: 'ContainerFile' });

export function idPageSchema<Row extends z.ZodType>(row: Row) {
  return z.strictObject({
    data: z.array(row),
    first_id: z.string().nullable(),
    last_id: z.string().nullable(),
    has_more: z.boolean(),
  });
}

export function serializeContainer(record: ContainerRecord): z.output<typeof containerSchema> {
  return {
    id: record.id,
    object: 'container',
    status: record.status,
    image: null,
    network: 'none',
    allowed_hosts: [],
    memory_mb: Math.floor(record.memoryBytes / BYTES_PER_MB),
    created_at: seconds(record.createdAtMs),
    last_active_at: seconds(record.lastActiveAtMs),
    expires_at: seconds(record.expiresAtMs),
  };
}

export function serializeContainerFile(containerId: string, file: ContainerFile): z.output<typeof containerFileSchema> {
  const { id, path, bytes, createdAtMs, source } = file;
  return {
    id,
    object: 'container.file',
    container_id: containerId,
    path,
    bytes,
    created_at: seconds(createdAtMs),
    source,
  };
}

export function serializeIdPage<Row, Shown extends { readonly id: string }>(
  { rows, hasMore }: IdPage<Row>,
  serialize: (row: Row) => Shown,
) {
  const data = rows.map(serialize);
  return { data, first_id: data[0]?.id ?? null, last_id: data.at(-1)?.id ?? null, has_more: hasMore };
}

/** @throws GatewayError 404 where containers are off, and for a workspace other than a normal key's own */
export async function containersOf(
  query: { readonly workspace_id?: string | undefined },
  { principal, services }: Pick<RouteContext<unknown, unknown, unknown>, 'principal' | 'services'>,
): Promise<{ readonly containers: ContainerRoutes; readonly owner: Principal }> {
  const { containers } = services;
  if (containers === undefined)
    throw new GatewayError(
      'not_found',
      'Containers are off. Set containers.runtime in the configuration of the gateway, and start it again; `model-gateway containers doctor` says what isolates here.',
    );
  return { containers, owner: await ownerOf(query, { principal, services }) };
}

function seconds(atMs: number): number {
  return Math.floor(atMs / MS_PER_S);
}
