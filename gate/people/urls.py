from django.urls import path

from gate.people import key_views, mail_views, own_views, people_views, provider_views, second_step_views, views

door_urls = [
    path("sign-in/", views.sign_in, name="sign_in"),
    path("sign-in/passkey/", second_step_views.second_step, name="second_step"),
    path("sign-in/passkey/options/", second_step_views.options, name="second_step_options"),
    path("sign-in/provider/", provider_views.begin, name="provider"),
    path("sign-in/provider/return/", provider_views.finish, name="provider_return"),
    path("sign-out/", views.sign_out, name="sign_out"),
    path("password/<str:token>/", views.password_link, name="password_link"),
]
own_urls = [
    path("me/", own_views.me, name="me"),
    path("me/preferences/", own_views.preferences, name="preferences"),
    path("me/password/", own_views.password, name="password"),
    path("me/identity/", provider_views.permit, name="identity"),
    path("me/identity/provider/", provider_views.begin_connecting, name="identity_provider"),
    path("me/identity/end/", provider_views.disconnect, name="identity_end"),
    path("me/address/", own_views.address, name="address"),
    path("me/sessions/end/", own_views.end_visits, name="end_visits"),
    path("me/sessions/<int:pk>/end/", own_views.end_visits, name="end_visit"),
]
key_urls = [
    path("me/keys/", key_views.keys_page, name="keys"),
    path("me/keys/options/", key_views.options, name="key_options"),
    path("me/keys/enrollment/", key_views.enrollment, name="key_enrollment"),
    path("me/keys/<int:pk>/confirmation/options/", key_views.confirmation_options, name="key_confirmation_options"),
    path("me/keys/<int:pk>/confirmation/", key_views.confirmation, name="key_confirmation"),
    path("me/keys/<int:pk>/revocation/", key_views.revocation, name="key_revocation"),
    path("people/keys/<int:pk>/confirmation/", key_views.second_hand, name="key_second_hand"),
    path("people/keys/<int:pk>/revocation/", key_views.revocation_by_admin, name="key_revocation_by_admin"),
]
people_urls = [
    path("people/", people_views.people, name="list"),
    path("people/roles/", people_views.roles, name="roles"),
    path("people/invitation/", people_views.invitation, name="invitation"),
    path("people/<int:pk>/", people_views.person, name="person"),
    path("people/<int:pk>/changes/", people_views.draft, name="draft"),
    path("people/changes/<int:pk>/confirmation/", people_views.confirmation, name="confirmation"),
    path("people/changes/<int:pk>/withdrawal/", people_views.withdrawal, name="withdrawal"),
]
mail_urls = [
    path("mail/", mail_views.mail, name="mail"),
    path("mail/test/", mail_views.test, name="mail_test"),
]

app_name = "people"
urlpatterns = [*door_urls, *own_urls, *key_urls, *people_urls, *mail_urls]
