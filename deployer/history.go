package deployer

import (
	"fmt"
	"slices"
	"strings"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/deployer/internal/status"
	"go.landscaper.dev/internal/runtime/job"
	"go.landscaper.dev/internal/runtime/job/reasons"
)

const (
	// maxFailures is how many different failures of a job are remembered and reported.
	maxFailures = 3
	// maxFailure is how many bytes of each are reported: the newest cause may be longer.
	maxFailure = 500
)

// beforeIt separates the result of an attempt from the failures of those before.
const beforeIt = "; attempts before it failed: "

// history has the results of the attempts of a job so far. The timeout is noticed anywhere, mostly
// not where the job has waited: without a history, the status would say nothing else.
type history struct {
	// last is how the last attempt ended: with a wait, or with an error.
	last string
	// failures are the errors, the newest last.
	failures []pastFailure
}

// pastFailure is an error, and how many attempts it has ended.
type pastFailure struct {
	text  string
	times int
}

// historyOf returns what a status says about the attempts of a job: another process may have made
// them. A job that has just begun has none.
func historyOf(item *v1alpha1.DeployItem) history {
	var known history
	for _, past := range item.Status.LastErrors {
		if past != nil && !slices.ContainsFunc(past.Codes, noAttempt) {
			known.remember(past.Message)
		}
	}
	now := job.GetCondition(item.Status.Conditions, v1alpha1.ReconcilingCondition)
	if reasons.IsWait(now) || reasons.IsRetry(now) {
		known.last, _, _ = strings.Cut(now.Message, beforeIt)
	}
	return known
}

// noAttempt reports whether a code says that an error is a wait, or the end of a job.
func noAttempt(code v1alpha1.ErrorCode) bool {
	return code == v1alpha1.ErrorUnfinished || code.Unrecoverable()
}

// note records the result of an attempt that another one follows.
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

// complete adds to an error the failures before it: the last attempt may only have waited for what
// had failed three times. A timeout reports all of them, a wait the newest one. What the error says
// itself is not repeated.
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

// recalled is an error with the failures before it. Operation, reason and codes are those of the
// error.
type recalled struct {
	error
	before string
}

// Error implements error.
func (r recalled) Error() string { return r.error.Error() + r.before }

// Unwrap returns the error itself.
func (r recalled) Unwrap() error { return r.error }

// judge says what the result of an attempt means for the job, and keeps it for the reports of later
// attempts.
func (i *Item) judge(result Result, err error) (status.Verdict, error) {
	ended, shown := judge(result, i.named(err), i.Expired(), i.run.checkpoint)
	i.run.history.note(ended, shown)
	return ended, i.run.history.complete(ended, shown)
}
