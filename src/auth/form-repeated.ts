/** A form that creates a secret was sent again, for example by reloading the page. Nothing was created. */
export class FormRepeated extends Error {
  constructor() {
    super('This form was sent before.');
  }
}
