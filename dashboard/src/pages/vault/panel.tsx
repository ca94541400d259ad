import { useState, type ReactElement } from 'react';
import { client } from '../../api/client.ts';
import { useChange, useRead } from '../../api/read.ts';
import { Button } from '../../parts/button.tsx';
import { DeleteDialog } from '../../parts/form.tsx';
import { Facts, Section } from '../../parts/page.tsx';
import { SidePanel } from '../../parts/side-panel.tsx';
import { Load } from '../../parts/states.tsx';
import { Ago, Name } from '../../parts/text.tsx';
import { hostsOf, type Secret } from './columns.tsx';
import { SecretForm } from './secret-form.tsx';

/** One secret: where it may go, and what names it. There is no way to see its value. */
export function SecretPanel({
  scope,
  secret,
  onClose,
}: {
  readonly scope: string;
  readonly secret: Secret;
  readonly onClose: () => void;
}): ReactElement {
  const [open, setOpen] = useState<'rotate' | 'delete'>();
  const { name, hosts, fingerprint } = secret;
  const params = { path: { name }, query: { workspace_id: scope } };
  const detail = useRead(['vault-secret', scope, name], (signal) =>
    client.GET('/vault/secrets/{name}', { signal, params }),
  );
  const references = detail.data?.data.references ?? [];
  const remove = useChange(
    () =>
      client.DELETE('/vault/secrets/{name}', {
        params: { path: { name }, query: { workspace_id: scope, ...(references.length > 0 && { force: 'true' }) } },
      }),
    onClose,
  );
  return (
    <SidePanel title={<Name>{name}</Name>} onClose={onClose}>
      <Section
        title="Secret"
        actions={
          <>
            <Button icon="refresh" onClick={() => setOpen('rotate')}>
              Another value
            </Button>
            <Button icon="trash" aria-label="Delete the secret" onClick={() => setOpen('delete')} />
          </>
        }
      >
        <Facts
          of={[
            ['Hosts', <Name key="hosts">{hostsOf(hosts)}</Name>],
            secret.external === null
              ? ['Fingerprint', fingerprint ?? 'none: the value cannot be opened']
              : [`At ${secret.backend}`, <Name key="place">{secret.external}</Name>],
            ['Stored', <Ago key="stored" at={secret.created_at} />],
            ['Value changed', <Ago key="changed" at={secret.updated_at} />],
            ['Last sent', <Ago key="sent" at={secret.last_released_at} />],
          ]}
        />
      </Section>
      <Section title="What names it">
        <Load of={detail} rows={2}>
          {() =>
            references.length === 0 ? (
              <p className="text-dim">Nothing that the gateway knows of.</p>
            ) : (
              <ul>
                {references.map((reference) => (
                  <li key={reference} className="break-words">
                    <Name>{reference}</Name>
                  </li>
                ))}
              </ul>
            )
          }
        </Load>
      </Section>
      <SecretForm
        key={String(open === 'rotate')}
        scope={scope}
        secret={secret}
        isOpen={open === 'rotate'}
        onClose={() => setOpen(undefined)}
      />
      <DeleteDialog
        what="secret"
        name={name}
        isOpen={open === 'delete'}
        onClose={() => setOpen(undefined)}
        change={remove}
      >
        {references.length > 0 && 'What names it fails from then on.'}
      </DeleteDialog>
    </SidePanel>
  );
}
