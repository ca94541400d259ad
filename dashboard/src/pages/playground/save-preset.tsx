import { useState, type ReactElement } from 'react';
import { client, type Schemas } from '../../api/client.ts';
import type { Format } from '../../api/generation/response.ts';
import { pathOf } from '../../api/generation/stream.ts';
import { useChange } from '../../api/read.ts';
import { To } from '../../parts/button.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { TextField } from '../../parts/field.tsx';
import { FormDialog } from '../../parts/form.tsx';
import type { Body } from './request/body.ts';

const SLUG = /^[a-z0-9]+(?:(?:-|_)[a-z0-9]+)*$/;

/** Keeps the model, the system prompt and the settings of the first column under a name. */
export function SavePreset({
  isOpen,
  onClose,
  format,
  body,
}: {
  readonly isOpen: boolean;
  readonly onClose: () => void;
  readonly format: Format;
  readonly body: Body;
}): ReactElement {
  const [slug, setSlug] = useState('');
  const [saved, setSaved] = useState<string>();
  const change = useChange(writePreset, (_, { slug: written }) => setSaved(written));
  const close = (): void => {
    setSaved(undefined);
    setSlug('');
    change.reset();
    onClose();
  };
  if (saved !== undefined)
    return (
      <Dialog title="Saved" isOpen={isOpen} onClose={close}>
        <p>
          Programs use it as <code className="font-mono">@preset/{saved}</code> in place of a model.{' '}
          <To to={`/ui/presets/${encodeURIComponent(saved)}`}>Open the preset</To>
        </p>
      </Dialog>
    );
  return (
    <FormDialog
      title="Save as a preset"
      isOpen={isOpen}
      onClose={close}
      change={change}
      input={{ slug, format, body }}
      submit="Save"
      request={{ method: 'POST', path: `/presets/${slug === '' ? '{slug}' : slug}${pathOf(format)}`, body }}
    >
      <TextField
        label="Name"
        required
        maxLength={64}
        pattern={SLUG.source}
        error={slug === '' || SLUG.test(slug) ? undefined : 'Small letters and digits, with single dashes between.'}
        placeholder="summaries"
        spellCheck={false}
        value={slug}
        onChange={(event) => setSlug(event.target.value.trim())}
        hint="The model, the system prompt and the settings of the first column are kept, the conversation is not. A preset of this name gets its next version, which is then in use."
      />
    </FormDialog>
  );
}

function writePreset({
  slug,
  format,
  body,
}: {
  readonly slug: string;
  readonly format: Format;
  readonly body: Body;
}): Promise<{ readonly data?: unknown }> {
  const params = { path: { slug }, query: {} };
  if (format === 'responses') return client.POST('/presets/{slug}/responses', { params, body });
  // The body is what a person put together: the gateway says what is wrong with it.
  /* eslint-disable typescript/no-unsafe-type-assertion */
  return format === 'messages'
    ? client.POST('/presets/{slug}/messages', { params, body: body as Schemas['MessagesRequest'] })
    : client.POST('/presets/{slug}/chat/completions', { params, body: body as Schemas['ChatRequest'] });
  /* eslint-enable typescript/no-unsafe-type-assertion */
}
