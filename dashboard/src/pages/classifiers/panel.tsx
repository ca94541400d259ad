import { useState, type ReactElement } from 'react';
import { client } from '../../api/client.ts';
import { nameOf, useKeys, useWorkspaces } from '../../api/lists.ts';
import { useChange } from '../../api/read.ts';
import { Button } from '../../parts/button.tsx';
import { DeleteDialog } from '../../parts/form.tsx';
import { formatCount, formatUsd } from '../../parts/money.ts';
import { Facts, Section } from '../../parts/page.tsx';
import { SidePanel } from '../../parts/side-panel.tsx';
import { Ago, Name } from '../../parts/text.tsx';
import { formatShare, type Classifier } from './columns.tsx';

/** One classifier: what it did today, what it reads, and the values that it gives. */
export function Panel({
  classifier,
  onClose,
}: {
  readonly classifier: Classifier;
  readonly onClose: () => void;
}): ReactElement {
  const { id, name, enabled, today, dimensions, payer_key_hash: payer } = classifier;
  const [isDeleting, setIsDeleting] = useState(false);
  const keys = useKeys();
  const workspaces = useWorkspaces();
  const params = { path: { id } };
  const change = useChange((isOn: boolean) => client.PATCH('/classifiers/{id}', { params, body: { enabled: isOn } }));
  const remove = useChange(() => client.DELETE('/classifiers/{id}', { params }), onClose);
  return (
    <SidePanel title={<Name>{name}</Name>} onClose={onClose}>
      <Section
        title="Since 00:00 UTC"
        actions={
          <>
            <Button disabled={change.isPending} onClick={() => change.mutate(!enabled)}>
              {enabled ? 'Switch off' : 'Switch on'}
            </Button>
            <Button icon="trash" aria-label="Delete the classifier" onClick={() => setIsDeleting(true)} />
          </>
        }
      >
        {change.isError && (
          <p role="alert" className="mb-2 text-bad">
            {change.error.message}
          </p>
        )}
        <Facts
          of={[
            ['Sorted', formatCount(today.classified)],
            ['Failed', formatCount(today.failed)],
            ['Left out', formatCount(today.dropped)],
            ['Cost', `${formatUsd(today.cost)} of ${formatUsd(classifier.daily_cost_limit_usd)} USD`],
          ]}
        />
      </Section>
      <Section title="What it reads">
        <Facts
          of={[
            ['Workspace', nameOf(workspaces.data, classifier.workspace_id)],
            ['Share', `${formatShare(classifier.sampling_rate)} of conversations`],
            ['Only', filtersOf(classifier)],
            ['Model', <Name key="model">{classifier.model}</Name>],
            ['Paid by', keys.data?.find(({ hash }) => hash === payer)?.name ?? payer.slice(0, 8)],
            ['Version', String(classifier.version)],
            ['Changed', <Ago key="changed" at={classifier.updated_at} />],
          ]}
        />
      </Section>
      <Section title="Values that it gives">
        <dl>
          {dimensions.map(({ name: dimension, description, values }) => (
            <div key={dimension} className="mb-2">
              <dt className="font-medium">
                <Name>{dimension}</Name>
              </dt>
              <dd className="text-dim">
                {description !== undefined && <p>{description}</p>}
                <Name>{values.map(({ value }) => value).join(', ')}</Name>
              </dd>
            </div>
          ))}
        </dl>
        <details>
          <summary className="text-dim hover:text-text">Its prompt</summary>
          <p className="mt-1 whitespace-pre-wrap">
            <Name>{classifier.prompt}</Name>
          </p>
        </details>
      </Section>
      <DeleteDialog
        what="classifier"
        name={name}
        isOpen={isDeleting}
        onClose={() => setIsDeleting(false)}
        change={remove}
      >
        All tags that it gave go with it.
      </DeleteDialog>
    </SidePanel>
  );
}

function filtersOf({ filters }: Classifier): string {
  if (filters === null) return 'everything';
  const { models, min_turns: turns, finish_reasons: reasons, api_key_hashes: keys } = filters;
  const parts = [
    ...(models === undefined ? [] : [`models ${models.join(', ')}`]),
    ...(turns === undefined ? [] : [`from ${turns} turns on`]),
    ...(reasons === undefined ? [] : [`ended by ${reasons.join(', ')}`]),
    ...(keys === undefined ? [] : [`${keys.length} keys`]),
  ];
  return parts.join('; ') || 'everything';
}
