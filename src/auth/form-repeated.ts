/**
 * A form that creates a secret was sent again, by reloading the page that showed the secret: nothing is created twice.
 */
export class FormRepeated extends Error {
  constructor() {
    super('This form was sent before.');
  }
}
