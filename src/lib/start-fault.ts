/** A reason not to start, with instructions. Printed as it is, without a stack. */
export class StartFault extends Error {}

/** A reason why a service that ran had to stop, with instructions. Printed as it is, without a stack. */
export class RunFault extends Error {}
