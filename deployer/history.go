package deployer

import (
	"fmt"
	"slices"
	"strings"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/deployer/internal/status"
	"go.landscaper.dev/internal/runtime/job"
)

const (
	// maxFailures is how many different failures of a job are remembered and told.
	maxFailures = 3
	// maxFailure is how many bytes of each are told: the newest cause has room for more.
	maxFailure = 500
)

// beforeIt stands between how an attempt ended and the failures of those before it.
const beforeIt = "; attempts before it failed: "

// history is what the attempts of a job have met so far. The end of the time is noticed
// anywhere, mostly not where the job has waited: without a history, it would be the only
// thing that the status says.
type history struct {
	// last is how the last attempt ended: with a wait, or with an error.
	last string
	// failures are the errors, the newest last.
	failures []pastFailure
}

// pastFailure is an error of attempts, and how many of them it has ended.
type pastFailure struct {
	text  string
	times int
}

// historyOf returns what a status says about the attempts of a job: another process may have
// made them. One that has just begun has none.
func historyOf(item *v1alpha1.DeployItem) history {
	var told history
	for _, past := range item.Status.LastErrors {
		if past != nil && !slices.ContainsFunc(past.Codes, noAttempt) {
			told.remember(past.Message)
		}
	}
	now := job.GetCondition(item.Status.Conditions, v1alpha1.ReconcilingCondition)
	if now != nil && (now.Reason == job.WaitingReason || now.Reason == job.RetryingReason) {
		told.last, _, _ = strings.Cut(now.Message, beforeIt)
	}
	return told
}

// noAttempt reports whether a code says that an error is a wait, or the end of a job.
func noAttempt(code v1alpha1.ErrorCode) bool {
	return code == v1alpha1.ErrorUnfinished || code.Unrecoverable()
}

// note keeps how an attempt ended after which another one follows.
func (h *history) note(ended status.Verdict, err error) {
	switch ended {
	case status.Waiting:
		h.last = err.Error()
	case status.Retrying:
		h.last = err.Error()
		h.remember(h.last)
	}
}

func (h *history) remember(text string) {
	text = shortened(text)
	at := slices.IndexFunc(h.failures, func(past pastFailure) bool { return past.text == text })
	known := pastFailure{text: text}
	if at >= 0 {
		known = h.failures[at]
		h.failures = slices.Delete(h.failures, at, at+1)
	}
	known.times++
	h.failures = append(h.failures, known)
	h.failures = h.failures[max(0, len(h.failures)-maxFailures):]
}

func shortened(text string) string {
	if len(text) <= maxFailure {
		return text
	}
	return strings.ToValidUTF8(text[:maxFailure], "") + "…"
}

// complete adds to an error which failures were before it: the last attempt may only have
// waited for what had failed three times. The end of the time tells all of them, a wait the
// newest one. What the error tells itself is not repeated.
func (h *history) complete(ended status.Verdict, err error) error {
	most := 0
	switch {
	case ended == status.Waiting:
		most = 1
	case ended == status.Failed && slices.Contains(job.Codes(err), v1alpha1.ErrorTimeout):
		most = maxFailures
	}
	if most == 0 {
		return err
	}
	var before []string
	for _, past := range slices.Backward(h.failures) {
		text := past.text
		if len(before) == most || strings.Contains(err.Error(), strings.TrimSuffix(text, "…")) {
			continue
		}
		if past.times > 1 && ended == status.Failed {
			text += fmt.Sprintf(" (%d times)", past.times)
		}
		before = append(before, text)
	}
	if len(before) == 0 {
		return err
	}
	return recalled{err, beforeIt + strings.Join(before, "; ")}
}

// recalled is an error with what was before it. Operation, reason and codes are those of
// the error.
type recalled struct {
	error
	before string
}

// Error implements error.
func (r recalled) Error() string { return r.error.Error() + r.before }

// Unwrap returns the error itself.
func (r recalled) Unwrap() error { return r.error }

// judge says what the result of an attempt means for the job, and keeps it for what the
// attempts after it have to tell.
func (i *Item) judge(result Result, err error) (status.Verdict, error) {
	ended, shown := judge(result, i.named(err), i.Expired(), i.run.checkpoint)
	i.run.history.note(ended, shown)
	return ended, i.run.history.complete(ended, shown)
}
