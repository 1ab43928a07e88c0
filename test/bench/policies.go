package main

import (
	"context"
	"fmt"
	"io"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/internal/model/admission"
	"go.landscaper.dev/internal/server/install"
)

// policies measure what part of the work of the API server our admission policies are: the same
// crowd comes with them, without them, and with them again.
func policies(ctx context.Context, b *bench, r *Report) error {
	if err := b.startServer(ctx); err != nil {
		return err
	}
	var with, without phase
	for _, policed := range []bool{true, false, true, false} {
		if err := b.police(ctx, policed); err != nil {
			return err
		}
		crowd, err := b.newCrowd(ctx, b.large/5, newInstallation)
		if err != nil {
			return err
		}
		came, err := crowd.come(ctx, crowd.succeeded())
		if err != nil {
			return err
		}
		if policed {
			with = with.plus(came)
		} else {
			without = without.plus(came)
		}
	}
	r.measured("policies: API server CPU with them", with.each(milliseconds(with.work.CPU)), "ms")
	r.measured("policies: API server CPU without them", without.each(milliseconds(without.work.CPU)), "ms")
	r.measured("policies: their share of it", 100*(1-without.each(without.work.CPU.Seconds())/with.each(with.work.CPU.Seconds())), "%")
	r.measured("policies: time that all writes wait for them", with.each(milliseconds(with.work.Reviewing)), "ms")
	return b.police(ctx, true)
}

// plus adds up two phases with the same number of Installations.
func (p phase) plus(other phase) phase {
	p.size += other.size
	p.work.CPU += other.work.CPU
	p.work.Reviewing += other.work.Reviewing
	return p
}

// police puts our policies into force, or takes them away.
func (b *bench) police(ctx context.Context, wanted bool) error {
	if wanted {
		return install.Run(ctx, b.admin, install.Options{}, io.Discard)
	}
	for _, policy := range admission.Policies() {
		binding := &admissionv1.ValidatingAdmissionPolicyBinding{}
		binding.Name = policy.Binding.Name
		if err := client.IgnoreNotFound(b.admin.Delete(ctx, binding)); err != nil {
			return fmt.Errorf("remove policy %s: %w", binding.Name, err)
		}
	}
	return nil
}
