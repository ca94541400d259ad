import { useNavigate, useParams } from '@tanstack/react-router';
import { useState, type ReactElement } from 'react';
import { client, type Schemas } from '../../api/client.ts';
import { useChange, useList, useRead } from '../../api/read.ts';
import { Badge } from '../../parts/badge.tsx';
import { Button, LinkButton, To } from '../../parts/button.tsx';
import { CodeBlock } from '../../parts/copy.tsx';
import { DiffView } from '../../parts/diff-view.tsx';
import { DeleteDialog } from '../../parts/form.tsx';
import { useHotkeys } from '../../parts/hotkeys.ts';
import { Page as Frame, Section } from '../../parts/page.tsx';
import { useSearchState } from '../../parts/search.ts';
import { toSnippet } from '../../parts/snippets.ts';
import { Load } from '../../parts/states.tsx';
import { Ago, Name } from '../../parts/text.tsx';
import { parsePresetSearch } from './search.ts';

type Version = Schemas['PresetVersion'];

/** One preset: its versions, what differs, and one click to go back. */
export function Page(): ReactElement {
  const { slug = '' } = useParams({ strict: false });
  const preset = useRead(['presets', slug], async (signal) => ({
    data: (await client.GET('/presets/{slug}', { signal, params: { path: { slug }, query: {} } })).data?.data,
  }));
  const versions = useList(['presets', slug, 'versions'], (window, signal) =>
    client.GET('/presets/{slug}/versions', { signal, params: { path: { slug }, query: window } }),
  );
  const used = versions.data?.items.find(({ id }) => id === preset.data?.designated_version_id)?.version;
  return (
    <Frame
      documentTitle={slug}
      title={
        <>
          <To to="/ui/presets" className="text-dim hover:underline">
            Presets
          </To>
          <span className="text-dim">/</span>
          <Name>{slug}</Name>
        </>
      }
      lead={preset.data?.description ?? undefined}
      actions={preset.data === undefined ? undefined : <Actions slug={slug} status={preset.data.status} />}
    >
      <Load of={versions}>{({ items }) => <Versions slug={slug} versions={items} used={used} />}</Load>
      <Section title="Use it">
        <CodeBlock
          label="curl"
          text={toSnippet(
            {
              method: 'POST',
              path: '/chat/completions',
              body: JSON.stringify({ model: `@preset/${slug}`, messages: [{ role: 'user', content: 'Hello' }] }),
            },
            'curl',
            location.origin,
            'GATEWAY_API_KEY',
          )}
        />
      </Section>
    </Frame>
  );
}

function Actions({
  slug,
  status,
}: {
  readonly slug: string;
  readonly status: Schemas['Preset']['status'];
}): ReactElement {
  const [isDeleting, setIsDeleting] = useState(false);
  const navigate = useNavigate();
  const params = { path: { slug }, query: {} };
  const next = status === 'active' ? 'disabled' : 'active';
  const change = useChange((body: Schemas['UpdatePresetRequest']) => client.PATCH('/presets/{slug}', { params, body }));
  const remove = useChange(
    () => client.DELETE('/presets/{slug}', { params }),
    () => void navigate({ to: '/ui/presets' }),
  );
  return (
    <>
      <Badge tone={status === 'active' ? 'good' : 'dim'}>{status}</Badge>
      <LinkButton to="/ui/playground" search={{ models: `@preset/${slug}` }} icon="playground">
        Try it
      </LinkButton>
      <Button disabled={change.isPending} onClick={() => change.mutate({ status: next })}>
        {next === 'active' ? 'Switch on' : 'Switch off'}
      </Button>
      <Button icon="trash" onClick={() => setIsDeleting(true)}>
        Delete
      </Button>
      <DeleteDialog what="preset" name={slug} isOpen={isDeleting} onClose={() => setIsDeleting(false)} change={remove}>
        Programs that name it get 404.
      </DeleteDialog>
    </>
  );
}

function Versions({
  slug,
  versions,
  used,
}: {
  readonly slug: string;
  readonly versions: readonly Version[];
  readonly used: number | undefined;
}): ReactElement {
  const [search, change] = useSearchState(parsePresetSearch);
  const shown =
    versions.find(({ version }) => version === search.version) ??
    versions.find(({ version }) => version === used) ??
    versions[0];
  const inUse = versions.find(({ version }) => version === used);
  const useVersion = useChange((version: number) =>
    client.PATCH('/presets/{slug}', { params: { path: { slug }, query: {} }, body: { designated_version: version } }),
  );
  const go = (step: number): void => {
    const next = versions[versions.findIndex(({ version }) => version === shown?.version) + step];
    if (next !== undefined) change({ version: String(next.version) }, false);
  };
  useHotkeys({ '[': () => go(1), ']': () => go(-1) });
  if (shown === undefined) return <Section title="Versions">None.</Section>;
  return (
    <div className="grid lg:grid-cols-[280px_minmax(0,1fr)] lg:divide-x lg:divide-line">
      <Section title="Versions">
        <ul>
          {versions.map(({ id, version, created_at: at }) => (
            <li key={id}>
              <button
                type="button"
                aria-pressed={version === shown.version}
                onClick={() => change({ version: String(version) }, false)}
                className="flex h-8 w-full items-center gap-2 rounded-md px-2 text-left hover:bg-hover aria-pressed:bg-chosen"
              >
                <span className="font-medium">v{version}</span>
                {version === used && <Badge tone="good">in use</Badge>}
                <span className="flex-1 text-right text-dim">
                  <Ago at={at} />
                </span>
              </button>
            </li>
          ))}
        </ul>
      </Section>
      <Section
        title={
          inUse === undefined || inUse.version === shown.version
            ? `Version ${shown.version}`
            : `Version ${shown.version}, against version ${inUse.version}, which is in use`
        }
        actions={
          shown.version === used ? undefined : (
            <Button look="primary" disabled={useVersion.isPending} onClick={() => useVersion.mutate(shown.version)}>
              Use version {shown.version}
            </Button>
          )
        }
      >
        <DiffView label={`Version ${shown.version}`} before={textOf(inUse ?? shown)} after={textOf(shown)} />
        {useVersion.isError && (
          <p role="alert" className="text-bad">
            {useVersion.error.message}
          </p>
        )}
      </Section>
    </div>
  );
}

function textOf({ system_prompt: system, config }: Version): string {
  return `${system === null ? '' : `system: ${system}\n`}${JSON.stringify(config, undefined, 2)}\n`;
}
