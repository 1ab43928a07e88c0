package decide

import (
	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/model/delivery"
)

// Verdict says whether the next job may begin.
type Verdict struct{ delivery.Verdict }

// Verdict judges a job that something starts. A job that nothing asks for is not deferred.
func (s Situation) Verdict(trigger v1alpha1.JobTrigger) Verdict {
	if trigger == "" || len(s.Policies) == 0 {
		return Verdict{}
	}
	return Verdict{delivery.Judge(s.Policies, s.Inst, trigger, s.Now)}
}

// message is what the condition says; empty if no job is deferred.
func (v Verdict) message() string {
	if v.Permitted() {
		return ""
	}
	return v.String()
}
