package fleet

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	fleetv1alpha1 "go.landscaper.dev/api/fleet/v1alpha1"
)

// progress is how far a wave is.
type progress struct {
	wave    *fleetv1alpha1.Wave
	members []*Member
	before  fleetv1alpha1.WaveStatus

	pending, running, failing []*Member
}

// rollWaves decides about each wave, one after the other.
func (d *decider) rollWaves() error {
	before := d.out.Status.Waves
	d.out.Status.Waves, d.out.Status.Wave = nil, ""
	open := true
	for index := range d.waves {
		p := d.progress(index, before)
		if len(p.members) == 0 && p.wave.Name == RestWave && len(d.waves) > 1 {
			continue
		}
		now := fleetv1alpha1.WaveStatus{Name: p.wave.Name, State: fleetv1alpha1.WaveWaiting}
		if open {
			var err error
			if now.State, now.Message, err = d.advance(p); err != nil {
				return fmt.Errorf("wave %s: %w", p.wave.Name, err)
			}
		}
		if open = open && now.State == fleetv1alpha1.WaveDone; !open && d.out.Status.Wave == "" {
			d.out.Status.Wave = p.wave.Name
		}
		now.Since = p.before.Since
		if now.State != p.before.State || now.Since == nil {
			since := metav1.NewTime(d.now.Truncate(time.Second))
			now.Since = &since
		}
		now.Counts = countsOf(p.members)
		d.out.Status.Waves = append(d.out.Status.Waves, now)
	}
	return nil
}

func (d *decider) progress(index int, before []fleetv1alpha1.WaveStatus) *progress {
	p := &progress{wave: &d.waves[index], before: fleetv1alpha1.WaveStatus{State: fleetv1alpha1.WaveWaiting}}
	if at := slices.IndexFunc(before, func(w fleetv1alpha1.WaveStatus) bool { return w.Name == p.wave.Name }); at >= 0 {
		p.before = before[at]
	}
	for _, m := range d.members {
		if m.wave != index {
			continue
		}
		p.members = append(p.members, m)
		switch {
		case m.pending():
			p.pending = append(p.pending, m)
		case m.state == running:
			p.running = append(p.running, m)
		case m.fails():
			p.failing = append(p.failing, m)
		}
	}
	// The order does not depend on names that sort first.
	slices.SortFunc(p.pending, func(a, b *Member) int { return cmp.Compare(order(a.Target), order(b.Target)) })
	return p
}

// onFailure is what a failure does.
func (d *decider) onFailure() fleetv1alpha1.FailureAction {
	if rollout := d.Fleet.Spec.Rollout; rollout != nil && rollout.OnFailure != "" {
		return rollout.OnFailure
	}
	return fleetv1alpha1.FailureStop
}

// advance decides about a wave whose turn it is, and returns its state and what it waits for.
func (d *decider) advance(p *progress) (fleetv1alpha1.WaveState, string, error) {
	if p.before.State == fleetv1alpha1.WaveDone {
		// What has come later does not stop others.
		d.begin(p)
		return fleetv1alpha1.WaveDone, waitsFor(p), nil
	}
	if action := d.onFailure(); action != fleetv1alpha1.FailureSkip && len(p.failing) > int(p.wave.MaxNotReady) {
		return d.failed(p, action)
	}
	switch {
	case len(p.pending)+len(p.running) > 0:
		d.begin(p)
		return fleetv1alpha1.WaveRunning, waitsFor(p), nil
	case p.before.State == fleetv1alpha1.WaveWaiting && len(p.failing) == 0:
		// Nothing was changed, so that nothing has to prove itself.
		return fleetv1alpha1.WaveDone, "", nil
	}
	return d.soak(p)
}

// begin writes as many Installations as may have a job at once.
func (d *decider) begin(p *progress) {
	free := int(p.wave.MaxParallel)
	for _, m := range p.members {
		if m.busy {
			free--
		}
	}
	for _, m := range p.pending {
		// One that has a job already takes no further place.
		if !m.busy {
			if free <= 0 {
				continue
			}
			free--
		}
		d.out.Writes = append(d.out.Writes, d.write(m, m.desired, d.revision))
	}
}

// waitsFor says what a wave that runs waits for: failures first.
func waitsFor(p *progress) string {
	var said []string
	for _, m := range slices.Concat(p.failing, p.members) {
		if m.why != "" && !slices.Contains(said, m.why) {
			said = append(said, m.why)
		}
	}
	return named(said)
}

// failed decides about a wave with more failures than it may have.
func (d *decider) failed(p *progress, action fleetv1alpha1.FailureAction) (fleetv1alpha1.WaveState, string, error) {
	stopped := fmt.Sprintf("%d of %d have failed: %s", len(p.failing), len(p.members), waitsFor(p))
	if action == fleetv1alpha1.FailureStop {
		return fleetv1alpha1.WaveStopped, stopped, nil
	}
	last := d.Fleet.Status.LastRevision
	if last == "" || last == d.revision {
		return fleetv1alpha1.WaveStopped, stopped + "; there is no revision that all Targets have had", nil
	}
	content, known := d.Contents[last]
	switch {
	case !known && d.Listed:
		return fleetv1alpha1.WaveStopped, stopped + "; revision " + last + " is not kept", nil
	case !known:
		d.out.Needs = append(d.out.Needs, last)
		return p.before.State, p.before.Message, nil
	}
	return d.bringBack(p, content, action, stopped)
}

// bringBack gives Installations of a wave an earlier content again.
func (d *decider) bringBack(p *progress, content Content, action fleetv1alpha1.FailureAction, stopped string) (fleetv1alpha1.WaveState, string, error) {
	back, going := 0, 0
	free := int(p.wave.MaxParallel)
	for _, m := range p.members {
		if m.state == wentBack && m.busy {
			going++
			free--
		}
	}
	for _, m := range p.members {
		if m.state != failed && (action != fleetv1alpha1.FailureGoBackWave || m.state != succeeded && m.state != running) {
			continue
		}
		before, err := d.before(content, m)
		switch {
		case err != nil:
			return "", "", err
		case before.Digest == m.desired.Digest || before.Lacks != "":
			// It has failed with what it had before.
			continue
		}
		if back++; free > 0 {
			free--
			d.out.Writes = append(d.out.Writes, d.goBack(m, before, d.Fleet.Status.LastRevision))
		}
	}
	if back+going > 0 {
		return fleetv1alpha1.WaveGoingBack, stopped, nil
	}
	return fleetv1alpha1.WaveStopped, stopped, nil
}

// before is what a member had with an earlier content.
func (d *decider) before(content Content, m *Member) (*Desired, error) {
	for _, target := range d.Targets {
		if target.Name == m.Target {
			return content.For(d.Fleet.Name, target, d.Exists)
		}
	}
	return nil, fmt.Errorf("target %s does not exist", m.Target)
}

// soak decides about a wave that has nothing to do any more: it waits for its time, then for its gates.
func (d *decider) soak(p *progress) (fleetv1alpha1.WaveState, string, error) {
	state := p.before.State
	if state != fleetv1alpha1.WaveGated {
		var pause time.Duration
		if p.wave.Soak != "" {
			var err error
			if pause, err = time.ParseDuration(p.wave.Soak); err != nil {
				return "", "", errSoak
			}
		}
		since := d.now
		if state == fleetv1alpha1.WaveSoaking && p.before.Since != nil {
			since = p.before.Since.Time
		}
		if end := since.Add(pause); end.After(d.now) {
			d.out.Wake = d.out.Wake.By(end)
			return fleetv1alpha1.WaveSoaking, "until " + end.UTC().Format(time.RFC3339), nil
		}
	}
	if len(p.wave.Gates) == 0 {
		return fleetv1alpha1.WaveDone, "", nil
	}
	return d.gates(p)
}

// gates decides about a wave that only its gates hold.
func (d *decider) gates(p *progress) (fleetv1alpha1.WaveState, string, error) {
	if d.Verdicts == nil {
		d.out.Asks = &Question{Wave: *p.wave, Members: p.members}
		return fleetv1alpha1.WaveGated, p.before.Message, nil
	}
	var closed []string
	for i := range p.wave.Gates {
		gate := &p.wave.Gates[i]
		verdict := d.Verdicts[gate.Name]
		if gate.Promotion {
			verdict = d.promoted(p.wave.Name)
		}
		if !verdict.Open {
			closed = append(closed, gate.Name+": "+verdict.Message)
		}
	}
	if len(closed) == 0 {
		return fleetv1alpha1.WaveDone, "", nil
	}
	d.out.Wake = d.out.Wake.By(d.now.Add(gateRecheck))
	return fleetv1alpha1.WaveGated, named(closed), nil
}

// promoted reports whether a user has promoted a wave of this revision.
func (d *decider) promoted(wave string) Verdict {
	return Verdict{
		Open:    d.Fleet.Annotations[fleetv1alpha1.PromotedAnnotation] == d.revision+"/"+wave,
		Message: "a user has to promote the wave: landscaper-cli fleet promote " + d.Fleet.Name,
	}
}
