/** What somebody has typed or chosen in forms, to fill in the same forms again after their HTML was replaced. */

type Field = HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement;
/** Values as a form would send them, by the form's key. */
export type FormValues = Record<string, [name: string, value: string][]>;

/** Hidden values that are new each time: by them the server recognises a form that is sent twice. */
const newEachTime = ['form', 'key'];
/** Hidden fields that say what a field held when the server rendered the form (`src/web/shown.ts`). */
const shownPrefix = 'shown_';
/** Never kept: secrets, files, and what somebody does not type. */
const neverKept = ['hidden', 'password', 'file', 'submit', 'button'];

const hiddenIn = (form: HTMLFormElement) => [...form.querySelectorAll<HTMLInputElement>('input[type="hidden"]')];
const isShown = ({ name }: HTMLInputElement) => name.startsWith(shownPrefix);

/** Which form it is, also on a page that was rendered later: its address and its hidden values. */
export function keyOf(form: HTMLFormElement): string {
  const hidden = hiddenIn(form).filter((field) => !newEachTime.includes(field.name) && !isShown(field));
  const fixed = hidden.map(({ name, value }) => [name, value]);
  const { pathname, search } = new URL(form.action);
  return pathname + search + JSON.stringify(fixed);
}

const fieldsOf = (form: HTMLFormElement): Field[] =>
  [...form.querySelectorAll<Field>('input[name], select[name], textarea[name]')].filter(
    (field) => !neverKept.includes(field.type) && field.autocomplete !== 'one-time-code',
  );

const isTicked = (field: Field): field is HTMLInputElement => field.type === 'checkbox' || field.type === 'radio';

function isChanged(field: Field): boolean {
  if (field instanceof HTMLSelectElement) {
    const first = [...field.options].find(({ defaultSelected }) => defaultSelected) ?? field.options[0];
    return field.value !== first?.value;
  }
  return isTicked(field) ? field.checked !== field.defaultChecked : field.value !== field.defaultValue;
}

const formsIn = (root: ParentNode) => [...root.querySelectorAll('form')];

/** The values of one form. */
export function valuesOf(form: HTMLFormElement): FormValues {
  const sent = fieldsOf(form).filter((field) => !isTicked(field) || field.checked);
  return { [keyOf(form)]: [...sent, ...hiddenIn(form).filter(isShown)].map(({ name, value }) => [name, value]) };
}

/** The values of all forms in which something differs from what the server sent. */
export function typedIn(root: ParentNode): FormValues {
  const changed = formsIn(root).filter((form) => fieldsOf(form).some(isChanged));
  return Object.assign({}, ...changed.map(valuesOf));
}

/** The fields of a form that somebody else has changed since its values were kept, and that were not changed in it. */
function changedElsewhere(form: HTMLFormElement, values: [name: string, value: string][]): string[] {
  return hiddenIn(form)
    .filter(isShown)
    .flatMap(({ name, value }) => {
      const before = values.find(([kept]) => kept === name)?.[1];
      const field = name.slice(shownPrefix.length);
      const own = values.filter(([kept]) => kept === field).map(([, typed]) => typed);
      return before !== undefined && before !== value && own.join() === before ? [field] : [];
    });
}

/**
 * Fills in forms again. A form that is there twice is left as it is, and so is a field that only somebody else changed.
 *
 * @returns those that were filled in
 */
export function typeAgain(root: ParentNode, typed: FormValues): HTMLFormElement[] {
  const forms = formsIn(root);
  return Object.entries(typed).flatMap(([key, values]) => {
    const [form, ...others] = forms.filter((one) => keyOf(one) === key);
    if (!form || others.length > 0) return [];
    const elsewhere = changedElsewhere(form, values);
    for (const field of fieldsOf(form).filter(({ name }) => !elsewhere.includes(name))) {
      const own = values.filter(([name]) => name === field.name).map(([, value]) => value);
      if (isTicked(field)) field.checked = own.includes(field.value);
      else if (own[0] !== undefined) field.value = own[0];
      field.dispatchEvent(new Event('input', { bubbles: true }));
    }
    return [form];
  });
}
