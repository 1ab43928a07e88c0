package cosign

// Identity is whose signature is wanted.
type Identity struct{ Issuer, Subject, IssuerRegExp, SubjectRegExp string }
