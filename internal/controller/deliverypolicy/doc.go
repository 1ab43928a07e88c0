// Package deliverypolicy says in the status of DeliveryPolicies what they do. It decides about no job:
// the controllers of Installations and Executions do that, by internal/model/delivery.
package deliverypolicy
