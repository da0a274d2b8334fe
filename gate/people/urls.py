from django.urls import path

from gate.people import views

app_name = "people"
urlpatterns = [
    path("sign-in/", views.sign_in, name="sign_in"),
    path("sign-out/", views.sign_out, name="sign_out"),
    path("me/", views.me, name="me"),
    path("me/preferences/", views.preferences, name="preferences"),
]
