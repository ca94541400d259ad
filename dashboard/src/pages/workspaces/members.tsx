import { useQuery } from '@tanstack/react-query';
import { useState, type ReactElement } from 'react';
import { client } from '../../api/client.ts';
import { usePeople } from '../../api/lists.ts';
import { useChange, useList } from '../../api/read.ts';
import { useConsole } from '../../api/session.ts';
import { signInQuery } from '../../api/sign-in.ts';
import { Button } from '../../parts/button.tsx';
import { Select } from '../../parts/field.tsx';
import { Section } from '../../parts/page.tsx';
import { Load } from '../../parts/states.tsx';
import { Name } from '../../parts/text.tsx';

const ROLES = [
  { value: 'member', label: 'member' },
  { value: 'admin', label: 'admin' },
] as const;

/** The members of a workspace; its admins and operators change them. */
export function Members({ id }: { readonly id: string }): ReactElement {
  const { session, isOperator } = useConsole();
  const mayChange = isOperator || session?.workspaces?.find((own) => own.id === id)?.role === 'admin';
  const members = useList(['members', id], (window, signal) =>
    client.GET('/workspaces/{id}/members', { signal, params: { path: { id }, query: window } }),
  );
  const people = usePeople(mayChange);
  const nameOf = (userId: string): string =>
    people.data?.items.find((person) => person.id === userId && person.email !== '')?.email ?? userId;
  const setRole = useChange(({ userId, role }: { readonly userId: string; readonly role: 'admin' | 'member' }) =>
    client.PATCH('/workspaces/{id}/members/{user_id}', { params: { path: { id, user_id: userId } }, body: { role } }),
  );
  const remove = useChange((userId: string) =>
    client.POST('/workspaces/{id}/members/remove', { params: { path: { id } }, body: { user_ids: [userId] } }),
  );
  const error = setRole.error ?? remove.error;
  return (
    <Section title="Members">
      <Load of={members} rows={1}>
        {({ items }) => (
          <>
            {items.length === 0 && <p className="text-dim">None: it is used by its keys alone.</p>}
            <ul>
              {items.map(({ user_id: userId, role }) => (
                <li key={userId} className="flex min-h-9 flex-wrap items-center gap-x-3">
                  <span className="min-w-0 flex-1 truncate">
                    <Name>{nameOf(userId)}</Name>
                  </span>
                  {mayChange ? (
                    <>
                      <Select
                        label={`Role of ${nameOf(userId)}`}
                        isLabelHidden
                        options={ROLES}
                        value={role}
                        onChange={(next) => setRole.mutate({ userId, role: next })}
                      />
                      <Button aria-label={`Remove ${nameOf(userId)}`} onClick={() => remove.mutate(userId)}>
                        Remove
                      </Button>
                    </>
                  ) : (
                    <span className="text-dim">{role}</span>
                  )}
                </li>
              ))}
            </ul>
            {error !== null && (
              <p role="alert" className="rounded-md bg-bad-soft px-3 py-2 text-bad">
                {error.message}
              </p>
            )}
            {mayChange && <AddMember id={id} present={items.map(({ user_id: userId }) => userId)} />}
          </>
        )}
      </Load>
    </Section>
  );
}

function AddMember({ id, present }: { readonly id: string; readonly present: readonly string[] }): ReactElement | null {
  const { data: ways } = useQuery(signInQuery);
  const people = usePeople();
  const [chosen, setChosen] = useState('');
  const add = useChange(
    (userId: string) =>
      client.POST('/workspaces/{id}/members/add', { params: { path: { id } }, body: { user_ids: [userId] } }),
    () => setChosen(''),
  );
  const others = (people.data?.items ?? []).filter(
    (person) => person.state === 'active' && !present.includes(person.id),
  );
  if (ways?.hasUsers !== true || others.length === 0) return null;
  return (
    <div className="mt-2 flex items-end gap-2">
      <Select
        label="Add a user"
        options={[
          { value: '', label: 'choose one' },
          ...others.map((person) => ({ value: person.id, label: person.email })),
        ]}
        value={chosen}
        onChange={setChosen}
      />
      <Button disabled={chosen === '' || add.isPending} onClick={() => add.mutate(chosen)}>
        Add
      </Button>
    </div>
  );
}
