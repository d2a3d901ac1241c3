/** What somebody has typed or chosen in forms, to fill in the same forms again after their HTML was replaced. */

type Field = HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement;
/** Values as a form would send them, by the form's key. */
export type FormValues = Record<string, [name: string, value: string][]>;

/** Hidden values that are new each time: by them the server recognises a form that is sent twice. */
const newEachTime = ['form', 'key'];
/** Never kept: secrets, files, and what somebody does not type. */
const neverKept = ['hidden', 'password', 'file', 'submit', 'button'];

/** Which form it is, also on a page that was rendered later: its address and its hidden values. */
export function keyOf(form: HTMLFormElement): string {
  const hidden = [...form.querySelectorAll<HTMLInputElement>('input[type="hidden"]')];
  const fixed = hidden.filter(({ name }) => !newEachTime.includes(name)).map(({ name, value }) => [name, value]);
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
  return { [keyOf(form)]: sent.map(({ name, value }) => [name, value]) };
}

/** The values of all forms in which something differs from what the server sent. */
export function typedIn(root: ParentNode): FormValues {
  const changed = formsIn(root).filter((form) => fieldsOf(form).some(isChanged));
  return Object.assign({}, ...changed.map(valuesOf));
}

/**
 * Fills in forms again. A form that is there twice is left as it is.
 *
 * @returns those that were filled in
 */
export function typeAgain(root: ParentNode, typed: FormValues): HTMLFormElement[] {
  const forms = formsIn(root);
  return Object.entries(typed).flatMap(([key, values]) => {
    const [form, ...others] = forms.filter((one) => keyOf(one) === key);
    if (!form || others.length > 0) return [];
    for (const field of fieldsOf(form)) {
      const own = values.filter(([name]) => name === field.name).map(([, value]) => value);
      if (isTicked(field)) field.checked = own.includes(field.value);
      else if (own[0] !== undefined) field.value = own[0];
      field.dispatchEvent(new Event('input', { bubbles: true }));
    }
    return [form];
  });
}
