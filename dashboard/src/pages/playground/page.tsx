import { useState, type ReactElement } from 'react';
import { FORMATS, type Format } from '../../api/generation/response.ts';
import { useModels } from '../../api/models.ts';
import { Button, IconButton } from '../../parts/button.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Segments } from '../../parts/field.tsx';
import { useHotkeys } from '../../parts/hotkeys.ts';
import { Page as Frame } from '../../parts/page.tsx';
import { useSearchState, type ChangeSearch } from '../../parts/search.ts';
import { Empty } from '../../parts/states.tsx';
import { Name } from '../../parts/text.tsx';
import { Composer } from './composer.tsx';
import { useConversation, type Conversation, type Thread } from './conversation.ts';
import { Estimate } from './estimate.tsx';
import { Explain } from './explain.tsx';
import { ModelPicker } from './model-picker.tsx';
import { RequestDialog } from './request-dialog.tsx';
import { toBody, type Body } from './request/body.ts';
import { countSettings, NO_SETTINGS, problemOfSettings, type Settings } from './request/settings.ts';
import { SavePreset } from './save-preset.tsx';
import { SettingsPanel } from './settings-panel.tsx';
import { COLUMNS_MAX, parsePlaygroundSearch, type PlaygroundSearch } from './search.ts';
import { ThreadView } from './thread-view.tsx';
import { Upstream } from './upstream.tsx';
import { useLink } from './use-link.ts';

const FIRST_MODEL = 'sandbox/echo';
const NAMES = ['A', 'B', 'C', 'D'];
/** `Alt 1` to `Alt 4`. */
const COLUMN_KEYS = NAMES.map((_, at) => [`Alt+${at + 1}`, () => focusColumn(at)] as const);
const HELLO = [{ role: 'user', content: 'Hello' }] as const;

/** Ask several models, and see what the gateway did. */
export function Page(): ReactElement {
  const [search, change] = useSearchState(parsePlaygroundSearch);
  const [own, setSettings] = useState<Settings>(NO_SETTINGS);
  const [open, setOpen] = useState<Part>();
  const [isBlind, setIsBlind] = useState(false);
  const models = search.models.length > 0 ? search.models : [FIRST_MODEL];
  const settings = { ...own, preset: search.preset };
  const conversation = useConversation(models, search.format, settings);
  const { threads } = conversation;
  const { isTooLong, branch } = useLink(conversation, own, setSettings);
  const setModels = (next: readonly string[]): void => change({ models: next.join(',') }, false);
  const toggle = (part: Part) => (): void => setOpen(open === part ? undefined : part);
  const edit: Conversation['edit'] = (...turn) => {
    branch();
    conversation.edit(...turn);
  };
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
        <Actions
          open={open}
          toggle={toggle}
          settings={own}
          blind={models.length > 1 ? { isOn: isBlind, set: setIsBlind } : undefined}
          onClear={conversation.clear}
        />
      }
      bar={<Bar search={search} models={models} onModels={setModels} onChange={change} />}
    >
      {open === 'settings' && <SettingsPanel settings={own} onChange={setSettings} />}
      <Columns models={models} conversation={{ ...conversation, edit }} isBlind={isBlind} onModels={setModels} />
      <Composer
        isRunning={threads.some(({ isRunning }) => isRunning)}
        problem={problemOfSettings(settings)}
        renderNote={(text, images) => (
          <>
            <Estimate text={text} images={images} threads={threads} settings={settings} />
            {isTooLong && (
              <p className="text-xs text-warn">
                This conversation is too long for the address: a copied link leaves it out.
              </p>
            )}
          </>
        )}
        onSend={conversation.send}
        onStop={() => conversation.stop()}
      />
      <Dialogs
        open={open}
        onClose={() => setOpen(undefined)}
        threads={threads}
        format={search.format}
        settings={settings}
      />
    </Frame>
  );
}

type Part = 'settings' | 'request' | 'upstream' | 'explain' | 'preset';

function focusColumn(at: number): void {
  document.querySelectorAll<HTMLElement>('[data-column]').item(at)?.focus();
}

function Actions({
  open,
  toggle,
  settings,
  blind,
  onClear,
}: {
  readonly open: Part | undefined;
  readonly toggle: (part: Part) => () => void;
  readonly settings: Settings;
  readonly blind: { readonly isOn: boolean; readonly set: (isOn: boolean) => void } | undefined;
  readonly onClear: () => void;
}): ReactElement {
  const set = countSettings(settings);
  return (
    <>
      <Button icon="presets" aria-expanded={open === 'settings'} onClick={toggle('settings')}>
        Settings{set > 0 && ` (${set})`}
      </Button>
      <Button icon="routing" onClick={toggle('explain')}>
        Explain
      </Button>
      <Button icon="code" onClick={toggle('request')}>
        Request
      </Button>
      <Button onClick={toggle('upstream')}>Upstream</Button>
      <Button onClick={toggle('preset')}>Save as preset</Button>
      {blind !== undefined && (
        <Button aria-pressed={blind.isOn} onClick={() => blind.set(!blind.isOn)}>
          {blind.isOn ? 'Show names' : 'Blind'}
        </Button>
      )}
      <Button onClick={onClear}>Clear</Button>
    </>
  );
}

function Bar({
  search: { preset, format },
  models,
  onModels,
  onChange,
}: {
  readonly search: PlaygroundSearch;
  readonly models: readonly string[];
  readonly onModels: (models: readonly string[]) => void;
  readonly onChange: ChangeSearch;
}): ReactElement {
  return (
    <>
      <ModelPicker models={models} max={COLUMNS_MAX} onChange={onModels} />
      {preset !== '' && (
        <span className="inline-flex h-7 items-center gap-1 rounded-md bg-chosen pl-2.5">
          preset <Name>{preset}</Name>
          <IconButton
            icon="close"
            label={`Leave out the preset ${preset}`}
            onClick={() => onChange({ preset: undefined }, false)}
          />
        </span>
      )}
      <span className="flex-1" />
      <Segments
        label="Format"
        value={format}
        options={FORMATS.map((value) => ({ value, label: value }))}
        onChange={(next) => onChange({ format: next === FORMATS[0] ? undefined : next }, false)}
      />
    </>
  );
}

function Dialogs({
  open,
  onClose,
  threads,
  format,
  settings,
}: {
  readonly open: Part | undefined;
  readonly onClose: () => void;
  readonly threads: readonly Thread[];
  readonly format: Format;
  readonly settings: Settings;
}): ReactElement {
  const [first] = threads;
  const messages = first === undefined || first.messages.length === 0 ? HELLO : first.messages;
  const bodyIn = (wanted: Format): Body => toBody(wanted, first?.model ?? FIRST_MODEL, messages, settings);
  return (
    <>
      <RequestDialog isOpen={open === 'request'} onClose={onClose} format={format} body={bodyIn(format)} />
      <SavePreset isOpen={open === 'preset'} onClose={onClose} format={format} body={bodyIn(format)} />
      <Dialog title="What went upstream" isOpen={open === 'upstream'} onClose={onClose} width="max-w-3xl">
        <Upstream threads={threads} format={format} />
      </Dialog>
      <Dialog title="Where it would go" isOpen={open === 'explain'} onClose={onClose} width="max-w-3xl">
        <Explain body={bodyIn('chat')} />
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
