// Package delivery judges by DeliveryPolicies whether a job of a root may begin, and why and until when
// not. It knows neither clients nor a clock: the same objects and the same time give the same answer.
package delivery
