import { useModels } from '../../api/models.ts';
import { useState, type ReactElement } from 'react';
import { Button } from '../../parts/button.tsx';
import { CodeBlock } from '../../parts/copy.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Segments } from '../../parts/field.tsx';
import { useHotkeys } from '../../parts/hotkeys.ts';
import { Page as Frame } from '../../parts/page.tsx';
import { useSearchState } from '../../parts/search.ts';
import { LANGUAGES, toSnippet, type Language } from '../../parts/snippets.ts';
import { Empty } from '../../parts/states.tsx';
import { Composer } from './composer.tsx';
import { useConversation, type Conversation, type Thread } from './conversation.ts';
import { Explain } from './explain.tsx';
import { ModelPicker } from './model-picker.tsx';
import { SettingsPanel } from './settings-panel.tsx';
import { NO_SETTINGS, problemOfSettings, toBody, type Settings } from './settings.ts';
import { COLUMNS_MAX, parsePlaygroundSearch } from './search.ts';
import { ThreadView } from './thread-view.tsx';
import { Upstream } from './upstream.tsx';

const FIRST_MODEL = 'sandbox/echo';
const NAMES = ['A', 'B', 'C', 'D'];
/** `Alt 1` to `Alt 4`. */
const COLUMN_KEYS = NAMES.map((_, at) => [`Alt+${at + 1}`, () => focusColumn(at)] as const);
const HELLO = [{ role: 'user', content: 'Hello' }] as const;

/** Ask several models, and see what the gateway did. */
export function Page(): ReactElement {
  const [search, change] = useSearchState(parsePlaygroundSearch);
  const [settings, setSettings] = useState<Settings>(NO_SETTINGS);
  const [open, setOpen] = useState<Part>();
  const [isBlind, setIsBlind] = useState(false);
  const models = search.models.length > 0 ? search.models : [FIRST_MODEL];
  const conversation = useConversation(models, { ...settings, preset: search.preset });
  const setModels = (next: readonly string[]): void => change({ models: next.join(',') }, false);
  const isRunning = conversation.threads.some((thread) => thread.isRunning);
  const toggle = (part: Part) => (): void => setOpen(open === part ? undefined : part);
  useHotkeys({
    'Ctrl+.': () => conversation.stop(),
    'Ctrl+Shift+j': toggle('request'),
    ...Object.fromEntries(COLUMN_KEYS),
  });
  return (
    <Frame
      title="Playground"
      isFilled
      actions={
        <>
          <Button icon="presets" aria-expanded={open === 'settings'} onClick={toggle('settings')}>
            Settings
          </Button>
          <Button icon="routing" onClick={toggle('explain')}>
            Explain
          </Button>
          <Button icon="code" onClick={toggle('request')}>
            Request
          </Button>
          <Button onClick={toggle('upstream')}>Upstream</Button>
          {models.length > 1 && (
            <Button aria-pressed={isBlind} onClick={() => setIsBlind(!isBlind)}>
              {isBlind ? 'Show names' : 'Blind'}
            </Button>
          )}
          <Button onClick={conversation.clear}>Clear</Button>
        </>
      }
      bar={<ModelPicker models={models} max={COLUMNS_MAX} onChange={setModels} />}
    >
      {open === 'settings' && <SettingsPanel settings={settings} onChange={setSettings} />}
      <Columns models={models} conversation={conversation} isBlind={isBlind} onModels={setModels} />
      <Composer
        isRunning={isRunning}
        problem={problemOfSettings(settings)}
        onSend={conversation.send}
        onStop={() => conversation.stop()}
      />
      <Dialogs
        open={open}
        onClose={() => setOpen(undefined)}
        threads={conversation.threads}
        settings={{ ...settings, preset: search.preset }}
      />
    </Frame>
  );
}

type Part = 'settings' | 'request' | 'upstream' | 'explain';

function focusColumn(at: number): void {
  document.querySelectorAll<HTMLElement>('[data-column]').item(at)?.focus();
}

function Dialogs({
  open,
  onClose,
  threads,
  settings,
}: {
  readonly open: Part | undefined;
  readonly onClose: () => void;
  readonly threads: readonly Thread[];
  readonly settings: Settings;
}): ReactElement {
  const [first] = threads;
  const messages = first === undefined || first.messages.length === 0 ? HELLO : first.messages;
  const body = toBody(first?.model ?? FIRST_MODEL, messages, settings);
  return (
    <>
      <RequestDialog isOpen={open === 'request'} onClose={onClose} body={body} />
      <Dialog title="What went upstream" isOpen={open === 'upstream'} onClose={onClose} width="max-w-3xl">
        <Upstream threads={threads} />
      </Dialog>
      <Dialog title="Where it would go" isOpen={open === 'explain'} onClose={onClose} width="max-w-3xl">
        <Explain body={body} />
      </Dialog>
    </>
  );
}

function Columns({
  models,
  conversation,
  isBlind,
  onModels,
}: {
  readonly models: readonly string[];
  readonly conversation: Conversation;
  readonly isBlind: boolean;
  readonly onModels: (models: readonly string[]) => void;
}): ReactElement {
  const isFresh = conversation.threads.every(({ messages }) => messages.length === 0);
  if (isFresh)
    return (
      <div className="flex min-h-0 flex-1 flex-col overflow-y-auto">
        <Empty
          title={models.length === 1 ? `Ask ${models[0]}` : `Ask ${models.length} models at once`}
          action={
            <Examples
              onTry={(model, text) => (models.includes(model) ? conversation.send(text, []) : onModels([model]))}
            />
          }
        >
          <p>
            {models.length === 1 && 'Add up to three models beside it to compare them. '}What you send is a request like
            any other: it is routed, limited and recorded.
          </p>
        </Empty>
      </div>
    );
  return (
    <div className="flex min-h-0 flex-1 overflow-x-auto">
      {conversation.threads.map((thread, at) => (
        <ThreadView
          key={thread.model}
          thread={thread}
          conversation={conversation}
          alias={isBlind ? `Model ${NAMES[at]}` : undefined}
          onRemove={models.length > 1 ? () => onModels(models.filter((model) => model !== thread.model)) : undefined}
          onOnly={models.length > 1 ? () => onModels([thread.model]) : undefined}
        />
      ))}
    </div>
  );
}

const EXAMPLES = [
  ['sandbox/echo', 'Say hello'],
  ['sandbox/reasoning', 'Why is the sky blue?'],
  ['sandbox/tools', 'What is the weather in Paris?'],
] as const;

function Examples({ onTry }: { readonly onTry: (model: string, text: string) => void }): ReactElement {
  const models = useModels();
  const names = new Set((models.data ?? []).map(({ id }) => id));
  return (
    <>
      {EXAMPLES.filter(([model]) => names.has(model)).map(([model, text]) => (
        <Button key={model} onClick={() => onTry(model, text)}>
          {model}: “{text}”
        </Button>
      ))}
    </>
  );
}

function RequestDialog({
  isOpen,
  onClose,
  body,
}: {
  readonly isOpen: boolean;
  readonly onClose: () => void;
  readonly body: Readonly<Record<string, unknown>>;
}): ReactElement {
  const [language, setLanguage] = useState<Language>('curl');
  return (
    <Dialog title="The request of the first column" isOpen={isOpen} onClose={onClose} width="max-w-3xl">
      <div className="flex flex-col gap-3">
        <Segments
          label="Language"
          value={language}
          options={LANGUAGES.map((value) => ({ value, label: value }))}
          onChange={setLanguage}
        />
        <CodeBlock
          label="Request"
          isWrapped
          text={toSnippet(
            { method: 'POST', path: '/chat/completions', body: JSON.stringify(body, undefined, 2) },
            language,
            location.origin,
            'GATEWAY_API_KEY',
          )}
        />
      </div>
    </Dialog>
  );
}
