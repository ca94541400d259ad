import type { UseInfiniteQueryResult, UseQueryResult } from '@tanstack/react-query';
import { useMemo, type ReactElement } from 'react';
import type { ApiError } from '../../api/errors.ts';
import type { Workspace } from '../../api/lists.ts';
import type { List } from '../../api/read-all.ts';
import { Button } from '../../parts/button.tsx';
import { Grid } from '../../parts/grid.tsx';
import { Empty, Load } from '../../parts/states.tsx';
import {
  GROUP_COLUMNS,
  mappingColumns,
  REQUEST_COLUMNS,
  TOKEN_COLUMNS,
  type ScimGroup,
  type ScimMapping,
  type ScimRequest,
  type ScimToken,
} from './columns.tsx';
import { MappingPanel, RequestPanel, TokenPanel } from './panels.tsx';

interface Peeking {
  readonly peek: string;
  readonly onPeek: (id: string | undefined) => void;
}

export function Requests({
  of,
  tokens,
  peek,
  onPeek,
}: Peeking & {
  readonly of: UseInfiniteQueryResult<List<ScimRequest>, ApiError>;
  readonly tokens: readonly ScimToken[];
}): ReactElement {
  return (
    <Load of={of}>
      {({ items, total }) => {
        const peeked = items.find(({ id }) => id === peek);
        return items.length === 0 ? (
          <Empty title="No identity provider has called">
            <p>
              Give it the address above and a token. What it does is here for 30 days, with what changed and why not.
            </p>
          </Empty>
        ) : (
          <div className="flex min-h-0 flex-1">
            <Grid
              label="Requests of identity providers"
              columns={REQUEST_COLUMNS}
              rows={items}
              total={total}
              keyOf={({ id }) => id}
              chosen={peek}
              onPeek={({ id }) => onPeek(id)}
              foot={
                of.hasNextPage ? (
                  <div className="p-3">
                    <Button onClick={() => void of.fetchNextPage()}>Load older</Button>
                  </div>
                ) : undefined
              }
            />
            {peeked !== undefined && (
              <RequestPanel key={peeked.id} request={peeked} tokens={tokens} onClose={() => onPeek(undefined)} />
            )}
          </div>
        );
      }}
    </Load>
  );
}

export function Mappings({
  of,
  groups,
  workspaces,
  peek,
  create,
  onPeek,
}: Peeking & {
  readonly of: UseQueryResult<List<ScimMapping>, ApiError>;
  readonly groups: readonly ScimGroup[];
  readonly workspaces: readonly Workspace[];
  readonly create: ReactElement;
}): ReactElement {
  const groupNames = useMemo(() => new Map(groups.map(({ id, display_name: name }) => [id, name])), [groups]);
  const workspaceNames = useMemo(() => new Map(workspaces.map(({ id, name }) => [id, name])), [workspaces]);
  return (
    <Load of={of}>
      {({ items }) => {
        const peeked = items.find(({ id }) => id === peek);
        return items.length === 0 ? (
          <Empty title="Groups give no workspace" action={create}>
            <p>
              A mapping makes the members of a pushed group members of a workspace, and takes that away with the group.
            </p>
          </Empty>
        ) : (
          <div className="flex min-h-0 flex-1">
            <Grid
              label="Mappings"
              columns={mappingColumns(groupNames, workspaceNames)}
              rows={items}
              keyOf={({ id }) => id}
              chosen={peek}
              onPeek={({ id }) => onPeek(id)}
            />
            {peeked !== undefined && (
              <MappingPanel
                key={peeked.id}
                mapping={peeked}
                group={groupNames.get(peeked.scim_group_id) ?? peeked.scim_group_id}
                workspace={workspaceNames.get(peeked.workspace_id) ?? peeked.workspace_id}
                onClose={() => onPeek(undefined)}
              />
            )}
          </div>
        );
      }}
    </Load>
  );
}

export function Groups({ of }: { readonly of: UseQueryResult<List<ScimGroup>, ApiError> }): ReactElement {
  return (
    <Load of={of}>
      {({ items }) =>
        items.length === 0 ? (
          <Empty title="No group was pushed">
            <p>Groups come from the identity provider, which must be set to push them.</p>
          </Empty>
        ) : (
          <Grid label="Groups" columns={GROUP_COLUMNS} rows={items} keyOf={({ id }) => id} />
        )
      }
    </Load>
  );
}

export function Tokens({
  of,
  peek,
  create,
  onPeek,
}: Peeking & {
  readonly of: UseQueryResult<{ readonly data: readonly ScimToken[] }, ApiError>;
  readonly create: ReactElement;
}): ReactElement {
  return (
    <Load of={of}>
      {({ data }) => {
        const peeked = data.find(({ id }) => id === peek);
        return data.length === 0 ? (
          <Empty title="There is no token" action={create}>
            <p>An identity provider signs in with a token of its own, which opens /scim/v2 alone.</p>
          </Empty>
        ) : (
          <div className="flex min-h-0 flex-1">
            <Grid
              label="Tokens"
              columns={TOKEN_COLUMNS}
              rows={data}
              keyOf={({ id }) => id}
              chosen={peek}
              onPeek={({ id }) => onPeek(id)}
            />
            {peeked !== undefined && <TokenPanel key={peeked.id} token={peeked} onClose={() => onPeek(undefined)} />}
          </div>
        );
      }}
    </Load>
  );
}
