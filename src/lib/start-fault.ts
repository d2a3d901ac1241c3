/** A reason not to start that says what to do about it: printed as it is, without a stack. */
export class StartFault extends Error {}
