// Package admission holds the rules that an API server applies to our kinds
// before it stores an object, and builds ValidatingAdmissionPolicies from them.
//
// They are policies and not CRD rules for two reasons: a CRD rule cannot see the
// label that switches validation off for an object, and it must be affordable
// for the largest list that the schema admits. They are not a webhook because a
// webhook that is down blocks every write.
//
// The controllers check the same rules again (see internal/model/validation), because
// an object may have been stored without a policy. Therefore a policy whose
// expression cannot be evaluated, such as one over a very long list, lets the
// object pass.
package admission
