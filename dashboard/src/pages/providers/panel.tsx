import { useState, type ReactElement } from 'react';
import { client, type Schemas } from '../../api/client.ts';
import type { Credential } from '../../api/lists.ts';
import { useCall, useChange } from '../../api/read.ts';
import { Badge } from '../../parts/badge.tsx';
import { Button } from '../../parts/button.tsx';
import { DeleteDialog } from '../../parts/form.tsx';
import { CheckResult } from '../../parts/check-result.tsx';
import { Facts, Section } from '../../parts/page.tsx';
import { SidePanel } from '../../parts/side-panel.tsx';
import { Ago, Name } from '../../parts/text.tsx';
import type { ProviderRow } from './columns.tsx';

/** One provider: its credentials in the order in which they are used, and whether it works. */
export function ProviderPanel({
  provider,
  onClose,
}: {
  readonly provider: ProviderRow;
  readonly onClose: () => void;
}): ReactElement {
  const test = useCall(() => client.POST('/providers/{slug}/test', { params: { path: { slug: provider.slug } } }));
  return (
    <SidePanel title={<Name>{provider.name}</Name>} onClose={onClose}>
      <Section title="Does it work">
        {provider.isOn ? (
          <Button disabled={test.isPending} onClick={() => test.mutate(undefined)}>
            {test.isPending ? 'Testing …' : 'Test, without spending tokens'}
          </Button>
        ) : (
          <p className="text-dim">{provider.hint ?? 'It has no credential of the gateway.'}</p>
        )}
        <CheckResult of={test} />
      </Section>
      <Section title="Own credentials">
        {provider.credentials.length === 0 ? (
          <p className="text-dim">
            None: the gateway&apos;s own credential is used, from the environment or the configuration.
          </p>
        ) : (
          <ul className="flex flex-col gap-3">
            {provider.credentials
              .toSorted((a, b) => a.sort_order - b.sort_order)
              .map((credential) => (
                <CredentialRow key={credential.id} credential={credential} />
              ))}
          </ul>
        )}
      </Section>
      <Section title="About">
        <Facts
          of={[
            [
              'Slug',
              <span key="slug" className="font-mono text-xs">
                {provider.slug}
              </span>,
            ],
            ['Home', provider.headquarters ?? 'unknown'],
            ['Data centres', provider.datacenters.join(', ') || 'unknown'],
          ]}
        />
      </Section>
    </SidePanel>
  );
}

function CredentialRow({ credential }: { readonly credential: Credential }): ReactElement {
  const [isDeleting, setIsDeleting] = useState(false);
  const {
    id,
    label,
    name,
    disabled,
    is_fallback: isFallback,
    always_use: isAlways,
    allowed_models: models,
    allowed_api_key_hashes: keys,
    created_at: at,
  } = credential;
  const params = { path: { id } };
  const change = useChange((body: Schemas['UpdateByokKeyRequest']) => client.PATCH('/byok/{id}', { params, body }));
  const remove = useChange(() => client.DELETE('/byok/{id}', { params }));
  const test = useCall(() => client.POST('/byok/{id}/test', { params }));
  return (
    <li className="rounded-md border border-line p-3">
      <div className="mb-2 flex items-center gap-2">
        <span className="font-medium">{name ?? label}</span>
        <Badge tone={disabled ? 'dim' : 'good'}>{disabled ? 'off' : 'on'}</Badge>
        {isFallback && <Badge>after the gateway&apos;s own</Badge>}
        {isAlways && <Badge>always</Badge>}
        <span className="flex-1" />
        <Button disabled={test.isPending} onClick={() => test.mutate(undefined)}>
          {test.isPending ? 'Testing …' : 'Test'}
        </Button>
        <Button disabled={change.isPending} onClick={() => change.mutate({ disabled: !disabled })}>
          {disabled ? 'Switch on' : 'Switch off'}
        </Button>
        <Button icon="trash" aria-label={`Delete ${name ?? label}`} onClick={() => setIsDeleting(true)} />
      </div>
      <Facts
        of={[
          [
            'Ends with',
            <span key="label" className="font-mono text-xs">
              {label}
            </span>,
          ],
          ['Models', models?.join(', ') ?? 'all'],
          ['Keys', keys === null ? 'all' : `${keys.length}`],
          ['Brought', <Ago key="at" at={at} />],
        ]}
      />
      <CheckResult of={test} />
      <DeleteDialog
        what="credential"
        name={name ?? label}
        isOpen={isDeleting}
        onClose={() => setIsDeleting(false)}
        change={remove}
      >
        Requests use what is left.
      </DeleteDialog>
    </li>
  );
}
