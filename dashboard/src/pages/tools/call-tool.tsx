import { useState, type FormEvent, type ReactElement } from 'react';
import { client, type Schemas } from '../../api/client.ts';
import { isRecord } from '../../api/errors.ts';
import { useCall } from '../../api/read.ts';
import { Badge } from '../../parts/badge.tsx';
import { Button } from '../../parts/button.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { TextArea } from '../../parts/field.tsx';
import { JsonView } from '../../parts/json-view.tsx';
import { formatMs } from '../../parts/time.ts';
import { exampleOf } from './example.ts';
import type { McpTool } from './servers.tsx';

type Arguments = NonNullable<Schemas['CallMcpToolRequest']['arguments']>;

/** Calls one tool by hand: what comes back is what a model would read. The call is an audit event. */
export function CallTool({
  server,
  tool,
  onClose,
}: {
  readonly server: string;
  readonly tool: McpTool;
  readonly onClose: () => void;
}): ReactElement {
  const [text, setText] = useState(() => JSON.stringify(exampleOf(tool.input_schema), undefined, 2));
  const parsed = parse(text);
  const call = useCall((args: Arguments) =>
    client.POST('/mcp_servers/{name}/tools/{tool}/call', {
      params: { path: { name: server, tool: tool.name } },
      body: { arguments: args },
    }),
  );
  const send = (event: FormEvent): void => {
    event.preventDefault();
    if (parsed.value !== undefined) call.mutate(parsed.value);
  };
  return (
    <Dialog title={`Call ${tool.name} of ${server}`} isOpen onClose={onClose} width="max-w-2xl">
      <form onSubmit={send} className="flex flex-col gap-3">
        <TextArea
          label="Arguments, as JSON"
          rows={6}
          className="font-mono text-xs"
          spellCheck={false}
          value={text}
          error={parsed.problem}
          onChange={(event) => setText(event.target.value)}
        />
        <details>
          <summary className="text-xs text-dim hover:text-text">The schema of its arguments</summary>
          <JsonView value={tool.input_schema} label="Schema" />
        </details>
        <div className="flex items-center justify-end gap-3">
          <span className="text-dim">The call is recorded in the audit log.</span>
          <Button type="submit" look="primary" disabled={call.isPending || parsed.value === undefined}>
            {call.isPending ? 'Calling …' : 'Call'}
          </Button>
        </div>
      </form>
      {call.isError && (
        <p role="alert" className="text-bad">
          {call.error.message}
        </p>
      )}
      {call.data !== undefined && (
        <div className="mt-3 flex flex-col gap-2" aria-live="polite">
          <p>
            <Badge tone={call.data.data.is_error ? 'bad' : 'good'}>
              {call.data.data.is_error ? 'the tool failed' : 'the tool responded'}
            </Badge>{' '}
            <span className="text-dim">in {formatMs(call.data.data.duration_ms)}</span>
          </p>
          <JsonView value={call.data.data.content} label="What a model would read" />
        </div>
      )}
    </Dialog>
  );
}

function parse(text: string): { readonly value?: Arguments; readonly problem?: string } {
  try {
    const value: unknown = JSON.parse(text);
    return isArguments(value) ? { value } : { problem: 'Arguments are an object.' };
  } catch (error) {
    return { problem: error instanceof Error ? error.message : 'This is no JSON.' };
  }
}

/** What was parsed as JSON holds JSON. */
function isArguments(value: unknown): value is Arguments {
  return isRecord(value);
}
